-- name: put
INSERT INTO trash (account_id, post_id, bookmark, trashed_at)
VALUES (:account_id, :post_id, :bookmark, :trashed_at)
    ON CONFLICT (account_id, post_id) DO UPDATE
   SET bookmark = excluded.bookmark, trashed_at = excluded.trashed_at

-- name: remove
DELETE FROM trash
 WHERE account_id = :account_id
   AND post_id = :post_id

-- name: post_ids
SELECT t.post_id
  FROM trash AS t
 WHERE t.account_id = :account_id
   AND t.trashed_at >= :oldest
 ORDER BY t.trashed_at, t.post_id
