-- name: has_any
SELECT 1
  FROM bulk_change AS c
 WHERE c.account_id = :account_id
 LIMIT 1
