-- compatible: yes
-- Whether each digest has one of the account's notes or highlights.
ALTER TABLE digest_preference ADD COLUMN has_highlight boolean NOT NULL DEFAULT FALSE;
