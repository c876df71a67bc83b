-- name: lock
-- Needs no lock: the transaction of the writer already locks the whole file.
SELECT l.local_number, l.next_number, l.next_label_id, l.version
  FROM library AS l
 WHERE l.account_id = :account_id
