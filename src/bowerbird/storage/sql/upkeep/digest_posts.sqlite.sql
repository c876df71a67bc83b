-- name: posts
-- CROSS JOIN makes SQLite start with the list.
SELECT b.post_id,
       CAST(c.rendering || ',"updated_at":"' || b.updated_at || '+00:00"' AS BLOB),
       c.tags, CAST(b.is_read AS integer) + 2 * CAST(b.is_archived AS integer)
  FROM json_each(:post_ids) AS wanted
  CROSS JOIN bookmark AS b ON b.account_id = :account_id AND b.post_id = wanted.value
  CROSS JOIN content AS c ON c.place = :place + b.number

-- name: numbered
SELECT b.number,
       CAST(c.rendering || ',"updated_at":"' || b.updated_at || '+00:00"' AS BLOB),
       c.tags, CAST(b.is_read AS integer) + 2 * CAST(b.is_archived AS integer)
  FROM json_each(:numbers) AS wanted
  CROSS JOIN bookmark AS b ON b.account_id = :account_id AND b.number = wanted.value
  CROSS JOIN content AS c ON c.place = :place + b.number
