-- name: not_again
SELECT l.not_again
  FROM library AS l
 WHERE l.account_id = :account_id

-- name: set_not_again
UPDATE library
   SET not_again = :numbers
 WHERE account_id = :account_id
