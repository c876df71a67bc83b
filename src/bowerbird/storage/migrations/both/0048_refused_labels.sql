-- compatible: yes
-- The ids of the labels that are not suggested for a post any more, as ",1,,2,".
ALTER TABLE bookmark ADD COLUMN refused_labels text NOT NULL DEFAULT '';
