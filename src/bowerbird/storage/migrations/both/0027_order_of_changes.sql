-- compatible: yes
-- The changes of an account and their undos are made in the order in which they were accepted.
-- An undo gets a new position.
ALTER TABLE bulk_change ADD COLUMN position BIGINT NOT NULL DEFAULT 0;
