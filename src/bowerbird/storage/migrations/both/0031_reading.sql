-- compatible: yes
-- What people choose about reading: the label of a star, and whether opening a post marks it read.
ALTER TABLE library ADD COLUMN favourite text NOT NULL DEFAULT 'favourite';
ALTER TABLE library ADD COLUMN marks_read boolean NOT NULL DEFAULT TRUE;
-- Until a time zone is chosen, the first browser says which one it is.
ALTER TABLE digest_preference ADD COLUMN is_zone_chosen boolean NOT NULL DEFAULT FALSE;
