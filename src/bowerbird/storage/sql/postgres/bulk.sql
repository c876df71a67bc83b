-- name: latest
SELECT p.post_id, p.field, max(p.version)
  FROM bulk_post AS p
 WHERE p.account_id = :account_id
   AND p.post_id = ANY(CAST(:post_ids AS text[]))
 GROUP BY p.post_id, p.field

-- name: recorded
SELECT p.post_id
  FROM bulk_post AS p
 WHERE p.account_id = :account_id
   AND p.change = :change
   AND p.field = :field
   AND p.post_id = ANY(CAST(:post_ids AS text[]))

-- name: forget
-- A row of a change, and the rows of the same field before it.
DELETE FROM bulk_post
 WHERE account_id = :account_id
   AND post_id = :post_id
   AND field = :field
   AND version <= :version
   AND (change = :number OR version < :version)

-- name: take_over_field
DELETE FROM bulk_post
 WHERE account_id = :account_id
   AND post_id = :post_id
   AND field = :field

-- name: take_over_post
DELETE FROM bulk_post
 WHERE account_id = :account_id
   AND post_id = :post_id
