-- name: not_again
SELECT l.not_again
  FROM library AS l
 WHERE l.account_id = :account_id

-- name: set_not_again
UPDATE library
   SET not_again = :numbers
 WHERE account_id = :account_id

-- name: accounts_to_index
SELECT DISTINCT u.account_id
  FROM unindexed_note AS u
 LIMIT :limit

-- name: first_to_index
SELECT u.number
  FROM unindexed_note AS u
 WHERE u.account_id = :account_id
 ORDER BY u.number
 LIMIT :limit

-- name: delete_indexed
DELETE FROM unindexed_note
 WHERE account_id = :account_id
   AND number <= :last
