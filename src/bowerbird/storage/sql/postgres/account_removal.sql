-- name: local_number
SELECT 0 WHERE CAST(:account_id AS bigint) IS NOT NULL

-- name: delete_words
DELETE FROM keyword
 WHERE account_id = :account_id
   AND number <= :last

-- name: delete_contents
DELETE FROM content
 WHERE account_id = :account_id
   AND number <= :last

-- name: give_back_local_number
SELECT 0 WHERE CAST(:account_id AS bigint) IS NOT NULL

-- name: overwrite_what_goes
-- PostgreSQL's vacuum gives the room to others.
SELECT 1

-- name: changes
SELECT 0

-- name: begin_merge_of_words
SELECT 1

-- name: merge_words
SELECT 1
