-- compatible: yes
-- The posts with a GIF, an article or a poll (bits 4, 8 and 32), in the default order. Few posts
-- have one, so that adding posts is hardly slower. It has no flags: marking a post does not change
-- it. Only statements with the same condition can use it, so that no other plan changes.
CREATE INDEX bookmark_rare_media ON bookmark (account_id, sort_index, number, media)
 WHERE media & 44 <> 0;
