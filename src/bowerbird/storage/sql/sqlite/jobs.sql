-- name: now
-- The database's clock in microseconds: leases of several machines are compared with one clock.
CAST(unixepoch('subsec') * 1000000 AS INTEGER)

-- name: bytes
-- In a list of selected values, PostgreSQL wants to be told what a parameter is.
:parameters

-- name: one_of_kinds
o.kind IN (SELECT known.value FROM json_each(:kinds) AS known)

-- name: forget_old
DELETE FROM job
 WHERE account_id = :account_id
   AND job_id IN (SELECT o.job_id
                    FROM job AS o
                   WHERE o.account_id = :account_id
                     AND o.completed_at < :before
                   ORDER BY o.completed_at
                   LIMIT :most)
RETURNING job_id
