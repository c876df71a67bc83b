-- name: lock
-- Locks the library row until the commit, so that writes to an account run one after the other.
SELECT l.local_number, l.next_number, l.next_label_id, l.version
  FROM library AS l
 WHERE l.account_id = :account_id
   FOR UPDATE
