-- name: latest
-- CROSS JOIN makes SQLite start with the list.
SELECT p.post_id, p.field, max(p.version)
  FROM json_each(:post_ids) AS wanted
  CROSS JOIN bulk_post AS p INDEXED BY bulk_post_by_field
          ON p.account_id = :account_id AND p.post_id = wanted.value
 GROUP BY p.post_id, p.field

-- name: recorded
SELECT p.post_id
  FROM json_each(:post_ids) AS wanted
  CROSS JOIN bulk_post AS p
          ON p.account_id = :account_id AND p.change = :change AND p.post_id = wanted.value
         AND p.field = :field

-- name: record_posts
-- One field of many posts. None of them was in the trash.
INSERT INTO bulk_post (account_id, change, post_id, field, was_set, version)
SELECT :account_id, :change, changed.value, :field, :was_set, :version
  FROM json_each(:post_ids) AS changed

-- name: forget
-- A row of a change, and the rows of the same field before it. Without the hint, SQLite reads all rows
-- of the account.
DELETE FROM bulk_post INDEXED BY bulk_post_by_field
 WHERE account_id = :account_id
   AND post_id = :post_id
   AND field = :field
   AND version <= :version
   AND (change = :number OR version < :version)

-- name: take_over_field
DELETE FROM bulk_post INDEXED BY bulk_post_by_field
 WHERE account_id = :account_id
   AND post_id = :post_id
   AND field = :field

-- name: take_over_post
DELETE FROM bulk_post INDEXED BY bulk_post_by_field
 WHERE account_id = :account_id
   AND post_id = :post_id
