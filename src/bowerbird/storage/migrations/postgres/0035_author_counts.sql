-- compatible: yes
-- With the flags, so that unread posts are counted by author from the index alone.
DROP INDEX bookmark_by_author;
CREATE INDEX bookmark_by_author ON bookmark (account_id, author_key, number, is_read, is_archived);
