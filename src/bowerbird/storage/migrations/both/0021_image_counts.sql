-- compatible: yes
-- The account page counts images by state and reason: from this index, without their URLs.
CREATE INDEX media_source_states ON media_source (account_id, state, reason);
