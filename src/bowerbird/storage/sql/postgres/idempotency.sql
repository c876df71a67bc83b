-- name: bound_wait
-- How long a statement waits for the lock of another transaction; 0 means forever.
SELECT set_config('lock_timeout', CAST(:limit_ms AS text), true)

-- name: claim
-- Waits for another transaction that inserts the same key. Returns no row if that one stored the
-- key, or if the account has been deleted.
INSERT INTO idempotency (account_id, idempotency_key, fingerprint, status, headers, body, created_at)
SELECT l.account_id, CAST(:idempotency_key AS text), CAST(:fingerprint AS bytea), 0, '', CAST(:body AS bytea), CAST(:created_at AS bigint)
  FROM library AS l
 WHERE l.account_id = :account_id
    ON CONFLICT (account_id, idempotency_key) DO NOTHING
RETURNING status

-- name: forget_old
-- Skips rows that another node is removing. The ARRAY makes PostgreSQL choose the rows once.
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
