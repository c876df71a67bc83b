-- compatible: yes
-- The order in which posts explained them last: those that come first give way to new ones.
ALTER TABLE abbreviation ADD COLUMN explained bigint NOT NULL DEFAULT 0;
