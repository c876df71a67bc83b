-- name: lock
-- Locks the library row until the commit, so that writes to an account run one after the other. It
-- reads no other table: on PostgreSQL, these values would be from before the lock was granted.
SELECT l.local_number, l.next_number, l.next_label_id, l.version
  FROM library AS l
 WHERE l.account_id = :account_id
   FOR UPDATE

-- name: version
SELECT l.version
  FROM library AS l
 WHERE l.account_id = :account_id

-- name: advance
UPDATE library
   SET version = version + 1,
       next_number = :next_number,
       next_label_id = :next_label_id,
       total = total + :total,
       unread = unread + :unread,
       archived = archived + :archived,
       fresh = fresh + :fresh,
       events = events + :events
 WHERE account_id = :account_id

-- name: touch
UPDATE library
   SET version = version + 1,
       events = events + :events
 WHERE account_id = :account_id

-- name: log
-- The library has counted these events already.
INSERT INTO library_event (account_id, last, size, at, events)
SELECT l.account_id, l.events, CAST(:size AS bigint), CAST(:at AS bigint), CAST(:body AS bytea)
  FROM library AS l
 WHERE l.account_id = :account_id

-- name: touch_posts
UPDATE bookmark INDEXED BY bookmark_by_post
   SET updated_at = :updated_at
 WHERE account_id = :account_id
   AND post_id = ANY(CAST(:post_ids AS text[]))
   AND updated_at <> :updated_at
