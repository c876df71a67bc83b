-- compatible: yes
-- The ids of the labels that are not suggested for a post any more, as ",1,,2,".
ALTER TABLE bookmark ADD COLUMN refused_labels TEXT NOT NULL DEFAULT '';

-- Whether each digest has one of the account's notes or highlights.
ALTER TABLE digest_preference ADD COLUMN has_highlight INTEGER NOT NULL DEFAULT 0;
