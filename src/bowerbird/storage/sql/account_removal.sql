-- name: count
SELECT count(*)
  FROM bookmark AS b
 WHERE b.account_id = :account_id

-- name: delete_keys
DELETE FROM api_key
 WHERE account_id = :account_id

-- name: delete_calls
DELETE FROM api_call
 WHERE account_id = :account_id

-- name: delete_library
DELETE FROM library
 WHERE account_id = :account_id

-- name: first_bookmarks
SELECT b.number
  FROM bookmark AS b
 WHERE b.account_id = :account_id
 ORDER BY b.number
 LIMIT :limit

-- name: delete_attachments
DELETE FROM bookmark_label
 WHERE account_id = :account_id
   AND number <= :last

-- name: delete_bookmarks
DELETE FROM bookmark
 WHERE account_id = :account_id
   AND number <= :last

-- name: delete_labels
DELETE FROM label
 WHERE account_id = :account_id

-- name: delete_person
DELETE FROM person
 WHERE account_id = :account_id
