-- compatible: yes
-- Who made a change: key or agent and the beginning of the hash of the key, page, or '' for a
-- command on the server.
ALTER TABLE bulk_change ADD COLUMN made_by text NOT NULL DEFAULT '';
