-- name: known
SELECT d.post_id, d.deleted_at, d.sort_index, d.completeness, d.order_source
  FROM deletion AS d
 WHERE d.account_id = :account_id
   AND d.post_id = ANY(CAST(:post_ids AS text[]))
