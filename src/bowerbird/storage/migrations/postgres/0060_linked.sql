-- compatible: yes
-- Lists of posts with links: without this index each of them counts all posts. 16 is the bit of
-- link in model/posts/media.py. SQLite would look up the row of each entry, which takes as long.
CREATE INDEX bookmark_linked ON bookmark (account_id, sort_index, number, is_read, is_archived)
 WHERE media & 16 <> 0 OR link_print IS NOT NULL;
