-- name: put
INSERT INTO trash (account_id, post_id, bookmark, trashed_at)
VALUES (:account_id, :post_id, :bookmark, :trashed_at)
    ON CONFLICT (account_id, post_id) DO UPDATE
   SET bookmark = excluded.bookmark, trashed_at = excluded.trashed_at

-- name: take
DELETE FROM trash
 WHERE account_id = :account_id
   AND post_id = :post_id
   AND trashed_at >= :oldest
RETURNING bookmark
