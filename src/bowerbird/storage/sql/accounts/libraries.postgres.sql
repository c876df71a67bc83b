-- name: lock
-- Locks the library row until the commit, so that writes to an account run one after the other. What
-- this statement reads of other tables would be older than the lock, if it waits for it.
SELECT l.local_number, l.next_number, l.next_label_id, l.version, NULL, NULL, NULL
  FROM library AS l
 WHERE l.account_id = :account_id
   FOR UPDATE
