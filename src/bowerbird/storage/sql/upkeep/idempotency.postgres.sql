-- name: hold
-- Waits while another transaction holds the same key of the same account.
SELECT pg_advisory_xact_lock(hashtextextended(CAST(:idempotency_key AS text), CAST(:account_id AS bigint)))

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
