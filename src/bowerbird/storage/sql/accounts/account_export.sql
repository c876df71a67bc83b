-- name: labels
SELECT l.label_id, l.name, l.metadata, l.bookmark_count, l.created_at, l.color
  FROM label AS l
 WHERE l.account_id = :account_id
 ORDER BY l.name_key

-- name: calls
SELECT c.month, c.calls
  FROM api_call AS c
 WHERE c.account_id = :account_id
 ORDER BY c.month

-- name: trash
SELECT t.post_id, t.trashed_at, t.bookmark
  FROM trash AS t
 WHERE t.account_id = :account_id
   AND t.post_id > :after
 ORDER BY t.post_id
 LIMIT :limit

-- name: unavailable
-- Posts that their source lists and does not show, and that the library does not have.
SELECT s.post_id, min(s.gone_at), max(s.gone_reason), max(s.sort_index)
  FROM source_post AS s
 WHERE s.account_id = :account_id
   AND s.gone_at IS NOT NULL
   AND s.post_id > :after
   AND NOT EXISTS (SELECT 1 FROM bookmark AS b
                    WHERE b.account_id = s.account_id AND b.post_id = s.post_id)
 GROUP BY s.post_id
 ORDER BY s.post_id
 LIMIT :limit

-- name: bookmarks
SELECT {rendered}, c.tags, b.is_read, b.is_archived, b.number
  FROM bookmark AS b
  JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
 WHERE b.account_id = :account_id
   AND b.number > :after
 ORDER BY b.number
 LIMIT :limit
