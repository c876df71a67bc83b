-- name: missing
-- Bookmarks without a vector of this model or with a stale one, starting at a number.
SELECT b.number, b.content_hash, c.rendering
  FROM bookmark AS b
  JOIN content AS c ON c.place = :place + b.number
 WHERE b.account_id = :account_id
   AND b.number >= :first
   AND NOT EXISTS (SELECT 1 FROM vector AS v
                    WHERE v.account_id = :account_id AND v.number = b.number
                      AND v.model = :model AND length(v.text_hash) > 0)
 ORDER BY b.number
 LIMIT :limit
