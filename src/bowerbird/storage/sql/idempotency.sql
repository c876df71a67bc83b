-- name: claim
-- Waits where another transaction holds the same key; gives no row when that one has kept it.
INSERT INTO idempotency (account_id, idempotency_key, fingerprint, status, headers, body, created_at)
VALUES (:account_id, :idempotency_key, :fingerprint, 0, '', :body, :created_at)
    ON CONFLICT (account_id, idempotency_key) DO NOTHING
RETURNING status

-- name: kept
SELECT i.fingerprint, i.status, i.headers, i.body, i.created_at
  FROM idempotency AS i
 WHERE i.account_id = :account_id
   AND i.idempotency_key = :idempotency_key

-- name: keep
UPDATE idempotency
   SET status = :status, headers = :headers, body = :body
 WHERE account_id = :account_id
   AND idempotency_key = :idempotency_key

-- name: forget
DELETE FROM idempotency
 WHERE account_id = :account_id
   AND idempotency_key = :idempotency_key

-- name: forget_old
DELETE FROM idempotency
 WHERE account_id = :account_id
   AND idempotency_key IN (SELECT i.idempotency_key
                             FROM idempotency AS i
                            WHERE i.account_id = :account_id
                              AND i.created_at < :before
                            ORDER BY i.created_at
                            LIMIT :most)
RETURNING idempotency_key
