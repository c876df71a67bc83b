-- name: by_token
SELECT l.account_id, l.local_number, l.plan, l.epoch, l.version,
       l.total, l.unread, l.archived, l.fresh,
       coalesce((SELECT c.calls
                   FROM api_call AS c
                  WHERE c.account_id = :account_id
                    AND c.month = :month), 0),
       EXISTS (SELECT 1 FROM bare_link AS bl WHERE bl.account_id = :account_id),
       d.device_id
  FROM library AS l
  JOIN device AS d ON d.account_id = l.account_id
 WHERE l.account_id = :account_id
   AND d.account_id = :account_id
   AND d.token_hash = :token_hash
   AND d.revoked_at IS NULL

-- name: revoked
SELECT d.device_id
  FROM device AS d
 WHERE d.account_id = :account_id
   AND d.token_hash = :token_hash
   AND d.revoked_at IS NOT NULL

-- name: source_user
SELECT d.source_user_id
  FROM device AS d
 WHERE d.account_id = :account_id
   AND d.device_id = :device_id

-- name: bind
UPDATE device
   SET source_user_id = :source_user_id
 WHERE account_id = :account_id
   AND device_id = :device_id

-- name: note_use
UPDATE device
   SET last_used_at = :now
 WHERE account_id = :account_id
   AND device_id = :device_id
   AND coalesce(last_used_at, 0) < :before
