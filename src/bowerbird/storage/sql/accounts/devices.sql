-- name: insert
-- Reads from library, so that a deleted account gets no row.
INSERT INTO device (account_id, device_id, token_hash, name, source_user_id, created_at)
SELECT l.account_id, CAST(:device_id AS text), :hash, CAST(:name AS text), '',
       CAST(:created_at AS bigint)
  FROM library AS l
 WHERE l.account_id = :account_id
   AND (SELECT count(*) FROM device AS d
         WHERE d.account_id = :account_id AND d.revoked_at IS NULL) < CAST(:most AS bigint)
RETURNING device_id

-- name: list
SELECT d.device_id, d.name, d.source_user_id, d.created_at, d.last_used_at, d.revoked_at
  FROM device AS d
 WHERE d.account_id = :account_id
 ORDER BY d.created_at, d.device_id

-- name: revoke
UPDATE device
   SET revoked_at = :revoked_at
 WHERE account_id = :account_id
   AND (device_id = :id OR token_hash = :hash)
   AND revoked_at IS NULL
RETURNING device_id, name

-- name: forget_revoked
-- Removes the devices that were revoked first, beyond the given number.
DELETE FROM device
 WHERE account_id = :account_id
   AND revoked_at IS NOT NULL
   AND device_id NOT IN (SELECT d.device_id
                           FROM device AS d
                          WHERE d.account_id = :account_id
                            AND d.revoked_at IS NOT NULL
                          ORDER BY d.revoked_at DESC, d.device_id
                          LIMIT :kept)

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
