-- name: now
-- The database's clock in microseconds: leases of several machines are compared with one clock.
CAST(date_part('epoch', clock_timestamp()) * 1000000 AS bigint)

-- name: bytes
-- In a list of selected values, PostgreSQL wants to be told what a parameter is.
CAST(:parameters AS bytea)

-- name: one_of_kinds
o.kind = ANY(CAST(:kinds AS text[]))

-- name: forget_old
-- Passes over what another node is removing. As an array, because it is then chosen only once.
DELETE FROM job
 WHERE account_id = :account_id
   AND job_id = ANY(ARRAY(SELECT o.job_id
                            FROM job AS o
                           WHERE o.account_id = :account_id
                             AND o.completed_at < :before
                           ORDER BY o.completed_at
                           LIMIT :most
                             FOR UPDATE SKIP LOCKED))
RETURNING job_id
