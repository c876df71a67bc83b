-- name: local_number
SELECT a.local_number
  FROM local_account AS a
 WHERE a.account_id = :account_id

-- name: delete_words
DELETE FROM keyword
 WHERE rowid BETWEEN :place AND :place + :last

-- name: delete_contents
DELETE FROM content
 WHERE place BETWEEN :place AND :place + :last

-- name: give_back_local_number
-- AUTOINCREMENT guarantees that no later account gets the same number.
DELETE FROM local_account
 WHERE account_id = :account_id

-- name: enable_secure_delete
-- Until it is disabled again, this connection overwrites deleted content with zeros.
PRAGMA secure_delete = ON

-- name: disable_secure_delete
-- As `database.py` sets it.
PRAGMA secure_delete = FAST

-- name: changes
SELECT total_changes()

-- name: start_index_merge
-- The words of deleted posts stay in old segments of the index until these are merged.
INSERT INTO keyword (keyword, rank) VALUES ('merge', -200)

-- name: continue_index_merge
INSERT INTO keyword (keyword, rank) VALUES ('merge', 200)
