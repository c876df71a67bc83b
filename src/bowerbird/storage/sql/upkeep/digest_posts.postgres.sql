-- name: posts
SELECT b.post_id,
       c.rendering || convert_to(',"updated_at":"' || b.updated_at || '+00:00"', 'UTF8'),
       c.tags, CAST(b.is_read AS integer) + 2 * CAST(b.is_archived AS integer)
  FROM bookmark AS b
  JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
 WHERE b.account_id = :account_id
   AND b.post_id = ANY(CAST(:post_ids AS text[]))

-- name: numbered
SELECT b.number,
       c.rendering || convert_to(',"updated_at":"' || b.updated_at || '+00:00"', 'UTF8'),
       c.tags, CAST(b.is_read AS integer) + 2 * CAST(b.is_archived AS integer)
  FROM bookmark AS b
  JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
 WHERE b.account_id = :account_id
   AND b.number = ANY(CAST(:numbers AS bigint[]))
