-- name: missing
-- Bookmarks without a vector of this model or with a stale one, starting at a number. The vector of
-- each bookmark is looked up: a join is slow while the tables have no statistics.
SELECT b.number, b.content_hash, c.rendering
  FROM bookmark AS b
  JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
 WHERE b.account_id = :account_id
   AND b.number >= :first
   AND coalesce((SELECT length(v.text_hash) FROM vector AS v
                  WHERE v.account_id = :account_id AND v.number = b.number
                    AND v.model = :model), 0) = 0
 ORDER BY b.number
 LIMIT :limit
