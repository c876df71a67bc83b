-- name: boolean
integer

-- name: kept
SELECT s.url_key, f.media_id, f.type, f.bytes, f.width, f.height
  FROM json_each(:keys) AS wanted
  CROSS JOIN media_source AS s ON s.account_id = :account_id AND s.url_key = wanted.value
  JOIN media_file AS f ON f.account_id = :account_id AND f.media_id = s.media_id

-- name: existing
SELECT f.media_id
  FROM json_each(:media_ids) AS wanted
  CROSS JOIN media_file AS f ON f.account_id = :account_id AND f.media_id = wanted.value

-- name: links_of
SELECT k.post_id, k.url_key
  FROM json_each(:post_ids) AS wanted
  CROSS JOIN media_link AS k ON k.account_id = :account_id AND k.post_id = wanted.value
