-- name: insert
INSERT INTO file_import (account_id, job_id, is_dry_run, state, done, size, report, error,
                         created_at, alive_at, completed_at)
SELECT l.account_id, CAST(:job_id AS text), :is_dry_run, 'pending', 0, CAST(:size AS bigint),
       :report, NULL, CAST(:now AS bigint), CAST(:now AS bigint), NULL
  FROM library AS l
 WHERE l.account_id = :account_id
    ON CONFLICT (account_id, job_id) DO NOTHING
RETURNING job_id

-- name: unfinished
SELECT f.job_id, f.is_dry_run, f.state, f.done, f.size, f.report, f.error, f.created_at, f.alive_at,
       f.completed_at
  FROM file_import AS f
 WHERE f.account_id = :account_id
   AND f.created_at >= :since
   AND f.completed_at IS NULL
   AND f.alive_at >= :alive_since

-- name: get
SELECT f.job_id, f.is_dry_run, f.state, f.done, f.size, f.report, f.error, f.created_at, f.alive_at,
       f.completed_at
  FROM file_import AS f
 WHERE f.account_id = :account_id
   AND f.job_id = :job_id

-- name: update
-- A report that was on its way when the import ended comes too late.
UPDATE file_import
   SET state = :state, done = :done, report = :report, error = :error, alive_at = :now,
       completed_at = :completed_at
 WHERE account_id = :account_id
   AND job_id = :job_id
   AND file_import.completed_at IS NULL

-- name: old
DELETE FROM file_import
 WHERE account_id = :account_id
   AND job_id IN (SELECT f.job_id
                    FROM file_import AS f
                   WHERE f.account_id = :account_id
                     AND f.created_at < :before
                   ORDER BY f.created_at
                   LIMIT :most)
RETURNING job_id
