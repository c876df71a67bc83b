-- name: put
INSERT INTO deletion (account_id, post_id, deleted_at, sort_index, completeness, order_source)
VALUES (:account_id, :post_id, :deleted_at, :sort_index, :completeness, :order_source)
    ON CONFLICT (account_id, post_id) DO UPDATE
   SET deleted_at = excluded.deleted_at,
       sort_index = excluded.sort_index,
       completeness = excluded.completeness,
       order_source = excluded.order_source

-- name: forget_oldest
DELETE FROM deletion
 WHERE account_id = :account_id
   AND deleted_at < (SELECT d.deleted_at
                       FROM deletion AS d
                      WHERE d.account_id = :account_id
                      ORDER BY d.deleted_at DESC
                      LIMIT 1 OFFSET :limit - 1)

-- name: remove
DELETE FROM deletion
 WHERE account_id = :account_id
   AND post_id = :post_id

-- name: known
SELECT d.post_id, d.deleted_at, d.sort_index, d.completeness, d.order_source
  FROM deletion AS d
 WHERE d.account_id = :account_id
   AND d.post_id = ANY(CAST(:post_ids AS text[]))
