-- compatible: yes
-- Where the reading of folders goes on, as JSON; '' if nothing is left.
ALTER TABLE source_connection ADD COLUMN folders_left text NOT NULL DEFAULT '';
