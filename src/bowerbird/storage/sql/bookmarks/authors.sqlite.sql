-- name: of_handle
-- The latest post of an author. The index has the numbers in order.
SELECT max(b.number)
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND b.author_key = f.author_key

-- name: of_name
SELECT max(b.number)
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND b.author_name_key = f.author_name_key
