-- name: of_handle
-- A late post of an author. The index has no numbers, and an author may have very many posts.
SELECT max(late.number)
  FROM (SELECT b.number
          FROM bookmark AS b
         WHERE b.account_id = :account_id
           AND b.author_key = f.author_key
         LIMIT 100) AS late

-- name: of_name
SELECT max(late.number)
  FROM (SELECT b.number
          FROM bookmark AS b
         WHERE b.account_id = :account_id
           AND b.author_name_key = f.author_name_key
         LIMIT 100) AS late
