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
   AND created_at < :before

-- name: claim
-- Returns no row if the key is stored already, or if the account has been deleted.
INSERT INTO idempotency (account_id, idempotency_key, fingerprint, status, headers, body, created_at)
SELECT l.account_id, CAST(:idempotency_key AS text), CAST(:fingerprint AS bytea), 0, '', CAST(:body AS bytea), CAST(:created_at AS bigint)
  FROM library AS l
 WHERE l.account_id = :account_id
    ON CONFLICT (account_id, idempotency_key) DO NOTHING
RETURNING account_id

-- name: forget_old
-- The oldest ones, up to a number and up to a size; at least one. Skips rows that another node is
-- removing. An array, because PostgreSQL then selects the rows once.
DELETE FROM idempotency
 WHERE account_id = :account_id
   AND idempotency_key = ANY(ARRAY(
       SELECT sized.idempotency_key
         FROM (SELECT old.idempotency_key,
                      sum(old.size) OVER (ORDER BY old.created_at, old.idempotency_key)
                          - old.size AS bytes_before
                 FROM (SELECT i.idempotency_key, i.created_at, octet_length(i.body) AS size
                         FROM idempotency AS i
                        WHERE i.account_id = :account_id
                          AND i.created_at < :before
                        ORDER BY i.created_at
                        LIMIT :most
                          FOR UPDATE SKIP LOCKED) AS old) AS sized
        WHERE sized.bytes_before < CAST(:most_bytes AS bigint)))
RETURNING idempotency_key
