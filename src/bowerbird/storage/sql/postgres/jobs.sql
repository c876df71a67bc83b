-- name: now
-- The database's clock in microseconds, so that the leases of all machines use one clock.
CAST(date_part('epoch', clock_timestamp()) * 1000000 AS bigint)

-- name: bytes
-- PostgreSQL needs the type of a parameter in a SELECT list.
CAST(:parameters AS bytea)

-- name: one_of_kinds
o.kind = ANY(CAST(:kinds AS text[]))

-- name: delete_old
-- Skips rows that another node is removing. The ARRAY makes PostgreSQL choose the rows once.
DELETE FROM job
 WHERE account_id = :account_id
   AND job_id = ANY(ARRAY(SELECT o.job_id
                            FROM job AS o
                           WHERE o.account_id = :account_id
                             AND o.completed_at < :before
                           ORDER BY o.completed_at
                           LIMIT :limit
                             FOR UPDATE SKIP LOCKED))
RETURNING job_id
