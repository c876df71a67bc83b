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

-- name: page
SELECT t.post_id, t.bookmark, t.trashed_at
  FROM trash AS t
 WHERE t.account_id = :account_id
   AND t.trashed_at >= :oldest
   AND (t.trashed_at, t.post_id) < (:trashed_at, :post_id)
 ORDER BY t.trashed_at DESC, t.post_id DESC
 LIMIT :limit

-- name: count
SELECT count(*)
  FROM (SELECT t.post_id
          FROM trash AS t
         WHERE t.account_id = :account_id
           AND t.trashed_at >= :oldest
         LIMIT :limit) AS restorable

-- name: contents
SELECT t.post_id, t.bookmark, t.trashed_at
  FROM trash AS t INDEXED BY sqlite_autoindex_trash_1
 WHERE t.account_id = :account_id
   AND t.post_id = ANY(CAST(:post_ids AS text[]))
   AND t.trashed_at >= :oldest

-- name: sizes
SELECT t.post_id, octet_length(t.bookmark)
  FROM trash AS t
 WHERE t.account_id = :account_id
   AND t.post_id = ANY(CAST(:post_ids AS text[]))

-- name: empty
-- Skips rows that another node is removing. The ARRAY makes PostgreSQL choose the rows once.
DELETE FROM trash
 WHERE account_id = :account_id
   AND post_id = ANY(ARRAY(SELECT t.post_id
                             FROM trash AS t
                            WHERE t.account_id = :account_id
                              AND t.trashed_at < :before
                            ORDER BY t.trashed_at
                            LIMIT :most
                              FOR UPDATE SKIP LOCKED))
RETURNING post_id
