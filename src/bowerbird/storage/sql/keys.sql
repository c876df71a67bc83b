-- name: insert
INSERT INTO api_key (account_id, key_id, key_hash, name, created_at, revoked_at)
VALUES (:account_id, :key_id, :key_hash, :name, :created_at, NULL)

-- name: list
SELECT k.key_id, k.name, k.created_at, k.revoked_at
  FROM api_key AS k
 WHERE k.account_id = :account_id
 ORDER BY k.created_at, k.key_id

-- name: revoke
UPDATE api_key
   SET revoked_at = :revoked_at
 WHERE account_id = :account_id
   AND (key_id = :key_id OR key_hash = :key_hash)
   AND revoked_at IS NULL
RETURNING key_id
