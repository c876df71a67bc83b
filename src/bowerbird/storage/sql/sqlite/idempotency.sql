-- name: bound_wait
-- Nothing to do: the transaction of the writer never waits for a lock.

-- name: claim
-- Returns no row if the key is already stored, or if the account has been deleted.
INSERT INTO idempotency (account_id, idempotency_key, fingerprint, status, headers, body, created_at)
SELECT l.account_id, :idempotency_key, :fingerprint, 0, '', :body, :created_at
  FROM library AS l
 WHERE l.account_id = :account_id
    ON CONFLICT (account_id, idempotency_key) DO NOTHING
RETURNING status

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
