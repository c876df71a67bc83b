-- name: boolean
boolean

-- name: kept
SELECT s.url_key, f.media_id, f.type, f.bytes, f.width, f.height
  FROM media_source AS s
  JOIN media_file AS f ON f.account_id = :account_id AND f.media_id = s.media_id
 WHERE s.account_id = :account_id
   AND s.url_key = ANY(CAST(:keys AS text[]))

-- name: existing
SELECT f.media_id
  FROM media_file AS f
 WHERE f.account_id = :account_id
   AND f.media_id = ANY(CAST(:media_ids AS text[]))

-- name: links_of
SELECT k.post_id, k.url_key
  FROM media_link AS k
 WHERE k.account_id = :account_id
   AND k.post_id = ANY(CAST(:post_ids AS text[]))
