-- compatible: yes
-- With the flags, so that unread posts are counted by author from the index alone. Dropping an index
-- stops all readers, so the new one is made first.
CREATE INDEX bookmark_by_author_and_flags
    ON bookmark (account_id, author_key, number, is_read, is_archived);
DROP INDEX bookmark_by_author;
ALTER INDEX bookmark_by_author_and_flags RENAME TO bookmark_by_author;
