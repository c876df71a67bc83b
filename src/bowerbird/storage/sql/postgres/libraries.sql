-- name: lock
-- Locks the library's row until the commit: writers of one account come one after the other.
SELECT l.local_number, l.next_number, l.next_label_id
  FROM library AS l
 WHERE l.account_id = :account_id
   FOR UPDATE
