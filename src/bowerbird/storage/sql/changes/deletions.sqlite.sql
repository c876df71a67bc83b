-- name: known
SELECT d.post_id, d.deleted_at, d.sort_index, d.completeness, d.order_source
  FROM json_each(:post_ids) AS wanted
  CROSS JOIN deletion AS d ON d.account_id = :account_id AND d.post_id = wanted.value
