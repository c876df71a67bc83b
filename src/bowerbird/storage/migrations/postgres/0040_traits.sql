-- compatible: yes
-- The same number for posts with the same text, and for posts with the same links; NULL if a post has
-- no such text or link.
ALTER TABLE bookmark ADD COLUMN text_print bigint;
ALTER TABLE bookmark ADD COLUMN link_print bigint;

CREATE INDEX bookmark_by_text ON bookmark (account_id, text_print, number)
 WHERE text_print IS NOT NULL;
CREATE INDEX bookmark_by_link ON bookmark (account_id, link_print, number)
 WHERE link_print IS NOT NULL;
-- Posts that an earlier release stored, until a job has looked at them (model/traits.py).
CREATE INDEX bookmark_without_traits ON bookmark (account_id, number) WHERE media & 262144 = 0;

-- With the likes, so that posts with many are found from the index alone. Dropping an index stops all
-- readers, so the new one is made first.
CREATE INDEX bookmark_all_and_likes ON bookmark
    (account_id, sort_index, number, is_read, is_archived, media, favorite_count);
DROP INDEX bookmark_all;
ALTER INDEX bookmark_all_and_likes RENAME TO bookmark_all;
