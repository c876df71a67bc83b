-- name: now
-- The database's clock in microseconds, so that the leases of all machines use one clock.
CAST(unixepoch('subsec') * 1000000 AS INTEGER)

-- name: bytes
-- PostgreSQL needs the type of a parameter in a SELECT list.
:parameters

-- name: one_of_kinds
o.kind IN (SELECT known.value FROM json_each(:kinds) AS known)

-- name: delete_old
DELETE FROM job
 WHERE account_id = :account_id
   AND job_id IN (SELECT o.job_id
                    FROM job AS o
                   WHERE o.account_id = :account_id
                     AND o.completed_at < :before
                   ORDER BY o.completed_at
                   LIMIT :limit)
RETURNING job_id
