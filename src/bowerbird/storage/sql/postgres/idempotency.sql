-- name: bound_wait
-- How long a statement waits for another transaction; 0 for ever.
SELECT set_config('lock_timeout', CAST(:limit_ms AS text), true)

-- name: claim
-- Waits where another transaction holds the same key; gives no row when that one has kept it, nor
-- for an account that was deleted since.
INSERT INTO idempotency (account_id, idempotency_key, fingerprint, status, headers, body, created_at)
SELECT l.account_id, CAST(:idempotency_key AS text), CAST(:fingerprint AS bytea), 0, '', CAST(:body AS bytea), CAST(:created_at AS bigint)
  FROM library AS l
 WHERE l.account_id = :account_id
    ON CONFLICT (account_id, idempotency_key) DO NOTHING
RETURNING status

-- name: forget_old
-- Passes over what another node is removing. As an array, because it is then chosen only once.
DELETE FROM idempotency
 WHERE account_id = :account_id
   AND idempotency_key = ANY(ARRAY(SELECT i.idempotency_key
                                     FROM idempotency AS i
                                    WHERE i.account_id = :account_id
                                      AND i.created_at < :before
                                    ORDER BY i.created_at
                                    LIMIT :most
                                      FOR UPDATE SKIP LOCKED))
RETURNING idempotency_key
