-- name: insert
-- Reads from library, so that a deleted account gets no row.
INSERT INTO api_key (account_id, key_id, key_hash, name, created_at, shown)
SELECT l.account_id, CAST(:key_id AS text), :hash, CAST(:name AS text),
       CAST(:created_at AS bigint), CAST(:shown AS text)
  FROM library AS l
 WHERE l.account_id = :account_id
   AND (SELECT count(*) FROM api_key AS k
         WHERE k.account_id = :account_id AND k.revoked_at IS NULL) < CAST(:most AS bigint)
RETURNING key_id

-- name: list
SELECT k.key_id, k.name, k.created_at, k.revoked_at, k.shown, k.last_used_day
  FROM api_key AS k
 WHERE k.account_id = :account_id
 ORDER BY k.created_at, k.key_id

-- name: names
SELECT k.key_hash, k.name
  FROM api_key AS k
 WHERE k.account_id = :account_id

-- name: revoke
UPDATE api_key
   SET revoked_at = :revoked_at
 WHERE account_id = :account_id
   AND (key_id = :id OR key_hash = :hash)
   AND revoked_at IS NULL
RETURNING key_id, name

-- name: forget_revoked
-- Removes the keys that were revoked first, beyond the given number.
DELETE FROM api_key
 WHERE account_id = :account_id
   AND revoked_at IS NOT NULL
   AND key_id NOT IN (SELECT k.key_id
                        FROM api_key AS k
                       WHERE k.account_id = :account_id
                         AND k.revoked_at IS NOT NULL
                       ORDER BY k.revoked_at DESC, k.key_id
                       LIMIT :kept)

-- name: note_use
UPDATE api_key
   SET last_used_day = :day
 WHERE account_id = :account_id
   AND key_hash = :key_hash
   AND coalesce(last_used_day, 0) < :day

-- name: count_live
SELECT count(*)
  FROM api_key AS k
 WHERE k.account_id = :account_id
   AND k.revoked_at IS NULL
