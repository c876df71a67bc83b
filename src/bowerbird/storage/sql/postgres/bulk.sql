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
