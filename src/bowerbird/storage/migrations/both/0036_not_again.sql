-- compatible: yes
-- The numbers of the posts that are not shown again as the one of a day, as a JSON list.
ALTER TABLE library ADD COLUMN not_again text NOT NULL DEFAULT '[]';
