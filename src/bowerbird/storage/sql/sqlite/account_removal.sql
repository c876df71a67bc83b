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
-- AUTOINCREMENT sees to it that no later account gets it.
DELETE FROM local_account
 WHERE account_id = :account_id

-- name: overwrite_what_goes
-- From now on this connection fills with zeroes what it frees.
PRAGMA secure_delete = ON

-- name: changes
SELECT total_changes()

-- name: begin_merge_of_words
-- A deleted post's words stay in old parts of the index until those are merged.
INSERT INTO keyword (keyword, rank) VALUES ('merge', -200)

-- name: merge_words
INSERT INTO keyword (keyword, rank) VALUES ('merge', 200)
