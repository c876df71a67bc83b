-- name: bytes
blob

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

-- name: bookmarks
-- CROSS JOIN makes SQLite start with the list.
SELECT b.number, b.content_hash,
       EXISTS (SELECT 1 FROM vector AS v
                WHERE v.account_id = :account_id AND v.number = b.number AND v.model = :model
                  AND length(v.text_hash) > 0)
  FROM json_each(:numbers) AS wanted
  CROSS JOIN bookmark AS b ON b.account_id = :account_id AND b.number = wanted.value

-- name: text_hashes
-- Without those of stale vectors.
SELECT v.number, v.model, v.text_hash
  FROM json_each(:numbers) AS wanted
  CROSS JOIN vector AS v ON v.account_id = :account_id AND v.number = wanted.value
 WHERE length(v.text_hash) > 0

-- name: number_text
SELECT group_concat(v.number)
  FROM vector AS v
 WHERE v.account_id = :account_id
   AND v.model = :model
