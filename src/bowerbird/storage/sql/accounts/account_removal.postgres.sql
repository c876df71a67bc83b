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

-- name: enable_secure_delete
-- PostgreSQL has no such setting; vacuum reuses the space.
SELECT 1

-- name: disable_secure_delete
SELECT 1

-- name: changes
SELECT 0

-- name: start_index_merge
SELECT 1

-- name: continue_index_merge
SELECT 1
