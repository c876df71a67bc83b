-- name: hold
-- Empty: the writer runs one transaction at a time.

-- name: forget_old
-- The oldest ones, up to a number and up to a size; at least one.
DELETE FROM idempotency
 WHERE account_id = :account_id
   AND idempotency_key IN (SELECT sized.idempotency_key
                             FROM (SELECT old.idempotency_key,
                                          sum(old.size) OVER (ORDER BY old.created_at, old.idempotency_key)
                                              - old.size AS bytes_before
                                     FROM (SELECT i.idempotency_key, i.created_at, length(i.body) AS size
                                             FROM idempotency AS i
                                            WHERE i.account_id = :account_id
                                              AND i.created_at < :before
                                            ORDER BY i.created_at
                                            LIMIT :most) AS old) AS sized
                            WHERE sized.bytes_before < :most_bytes)
RETURNING idempotency_key
