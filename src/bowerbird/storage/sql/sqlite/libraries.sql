-- name: lock
-- The writer's transaction holds the whole file already.
SELECT l.local_number, l.next_number, l.next_label_id
  FROM library AS l
 WHERE l.account_id = :account_id
