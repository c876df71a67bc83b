-- name: boolean
integer

-- name: bigint
integer

-- name: known
SELECT s.url_key, s.state, s.reason, f.media_id, f.type, f.bytes, f.width, f.height,
       g.media_id, g.type, g.bytes, g.width, g.height
  FROM json_each(:keys) AS wanted
  CROSS JOIN media_source AS s ON s.account_id = :account_id AND s.url_key = wanted.value
  LEFT JOIN media_file AS f ON f.account_id = :account_id AND f.media_id = s.media_id
  LEFT JOIN media_file AS g ON g.account_id = :account_id AND g.media_id = s.small_id

-- name: existing
SELECT f.media_id
  FROM json_each(:media_ids) AS wanted
  CROSS JOIN media_file AS f ON f.account_id = :account_id AND f.media_id = wanted.value

-- name: links_of
SELECT k.post_id, k.url_key
  FROM json_each(:post_ids) AS wanted
  CROSS JOIN media_link AS k ON k.account_id = :account_id AND k.post_id = wanted.value

-- name: try_again
UPDATE media_source
   SET state = 'waiting', reason = '', tries = 0, due_at = :now
 WHERE account_id = :account_id
   AND state = 'left_out'
   AND reason IN ('gone', 'refused', 'room', 'busy', 'time', 'unreachable')
   AND url_key IN (SELECT k.url_key FROM media_link AS k
                    WHERE k.account_id = :account_id
                      AND k.post_id IN (SELECT wanted.value FROM json_each(:post_ids) AS wanted))
