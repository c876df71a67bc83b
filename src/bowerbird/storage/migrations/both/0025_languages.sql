-- compatible: yes
-- Every bookmark of a lower number was looked at for its language. If one is in another language
-- than English, the account gets vectors of the multilingual model too.
ALTER TABLE vector_store ADD COLUMN examined_below bigint NOT NULL DEFAULT 0;
