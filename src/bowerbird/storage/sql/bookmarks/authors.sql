-- name: by_handle
-- Jumps from one author to the next in the index, so the posts in between are not read.
WITH RECURSIVE found (author_key, place) AS (
    SELECT (SELECT min(b.author_key)
              FROM bookmark AS b
             WHERE b.account_id = :account_id
               AND b.author_key >= :first
               AND b.author_key < :end), 1
    UNION ALL
    SELECT (SELECT min(b.author_key)
              FROM bookmark AS b
             WHERE b.account_id = :account_id
               AND b.author_key > f.author_key
               AND b.author_key < :end), f.place + 1
      FROM found AS f
     WHERE f.author_key IS NOT NULL
       AND f.place < :limit
)
SELECT f.author_key, ({of_handle})
  FROM found AS f
 WHERE f.author_key IS NOT NULL
 ORDER BY f.place

-- name: by_name
WITH RECURSIVE found (author_name_key, place) AS (
    SELECT (SELECT min(b.author_name_key)
              FROM bookmark AS b
             WHERE b.account_id = :account_id
               AND b.author_name_key >= :first
               AND b.author_name_key < :end), 1
    UNION ALL
    SELECT (SELECT min(b.author_name_key)
              FROM bookmark AS b
             WHERE b.account_id = :account_id
               AND b.author_name_key > f.author_name_key
               AND b.author_name_key < :end), f.place + 1
      FROM found AS f
     WHERE f.author_name_key IS NOT NULL
       AND f.place < :limit
)
SELECT f.author_name_key, ({of_name})
  FROM found AS f
 WHERE f.author_name_key IS NOT NULL
 ORDER BY f.place
