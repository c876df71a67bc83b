-- name: empty
DELETE FROM trash
 WHERE account_id = :account_id
   AND post_id IN (SELECT t.post_id
                     FROM trash AS t
                    WHERE t.account_id = :account_id
                      AND t.trashed_at < :before
                    ORDER BY t.trashed_at
                    LIMIT :most)
RETURNING post_id

-- name: contents
SELECT t.post_id, t.bookmark, t.trashed_at
  FROM json_each(:post_ids) AS wanted
  CROSS JOIN trash AS t ON t.account_id = :account_id AND t.post_id = wanted.value
 WHERE t.trashed_at >= :oldest

-- name: sizes
-- length() does not read a long value.
SELECT t.post_id, length(t.bookmark)
  FROM json_each(:post_ids) AS wanted
  CROSS JOIN trash AS t ON t.account_id = :account_id AND t.post_id = wanted.value
