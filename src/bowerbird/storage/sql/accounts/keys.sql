-- name: names
SELECT k.key_hash, k.name
  FROM api_key AS k
 WHERE k.account_id = :account_id

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
