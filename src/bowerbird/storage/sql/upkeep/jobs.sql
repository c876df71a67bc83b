-- name: add
-- Returns no row if the same job is unfinished, or if the account has been deleted.
INSERT INTO job (account_id, job_id, kind, unique_text, parameters, priority, state, tries, fence,
                 due_at, done, total, created_at)
SELECT l.account_id, CAST(:job_id AS text), CAST(:kind AS text), CAST(:unique_text AS text), CAST(:parameters AS bytea),
       CAST(:priority AS bigint), 'pending', 0, 0, {now}, 0, 0, CAST(:now AS bigint)
  FROM library AS l
 WHERE l.account_id = :account_id
    ON CONFLICT (account_id, kind, unique_text) WHERE completed_at IS NULL DO NOTHING
RETURNING job_id

-- name: unfinished
SELECT j.job_id
  FROM job AS j
 WHERE j.account_id = :account_id
   AND j.kind = :kind
   AND j.unique_text = :unique_text
   AND j.completed_at IS NULL

-- name: count_unfinished
SELECT count(*)
  FROM job AS j
 WHERE j.account_id = :account_id
   AND j.kind = :kind
   AND j.completed_at IS NULL

-- name: unfinished_of_kind
-- Counts the jobs of all accounts, up to a limit.
SELECT count(*)
  FROM (SELECT 1 AS one
          FROM job AS j
         WHERE j.completed_at IS NULL
           AND j.priority = :priority
           AND j.kind = :kind
         LIMIT :limit) AS found

-- name: next_priority
SELECT min(o.priority)
  FROM job AS o
 WHERE o.completed_at IS NULL
   AND o.priority > :above
   AND o.priority <= :max_priority

-- name: claim
-- Returns no row if another worker was faster, or if no attempts are left.
UPDATE job
   SET state = 'processing',
       tries = tries + 1,
       fence = fence + 1,
       due_at = {now} + :lease,
       started_at = {now},
       done = 0
 WHERE account_id = :account_id
   AND job_id = :job_id
   AND completed_at IS NULL
   AND NOT (due_at BETWEEN {now} + 1 AND {now} + :max_ahead)
   AND tries < :most_tries
RETURNING account_id, job_id, kind, parameters, tries, priority, fence

-- name: renew_lease
-- Also stores the progress. Returns no row if the worker lost the job.
UPDATE job
   SET due_at = {now} + :lease,
       done = :done,
       total = :total
 WHERE account_id = :account_id
   AND job_id = :job_id
   AND fence = :fence
   AND completed_at IS NULL
RETURNING fence

-- name: complete
UPDATE job
   SET state = 'completed',
       fence = fence + 1,
       done = :done,
       total = :total,
       result = :result,
       error = NULL,
       completed_at = :now,
       expires_at = :expires_at
 WHERE account_id = :account_id
   AND job_id = :job_id
   AND fence = :fence
   AND completed_at IS NULL
RETURNING fence

-- name: postpone
-- The job is due again after a pause.
UPDATE job
   SET state = 'pending',
       fence = fence + 1,
       tries = :tries,
       due_at = {now} + :pause,
       error = coalesce(CAST(:error AS text), error)
 WHERE account_id = :account_id
   AND job_id = :job_id
   AND fence = :fence
   AND completed_at IS NULL
RETURNING fence

-- name: fail_abandoned
-- The worker of the last attempt died. Keeps the error of an earlier attempt.
UPDATE job
   SET state = 'failed',
       fence = fence + 1,
       error = coalesce(error || ' ', '') || :error,
       completed_at = :now
 WHERE account_id = :account_id
   AND job_id = :job_id
   AND completed_at IS NULL
   AND NOT (due_at BETWEEN {now} + 1 AND {now} + :max_ahead)
   AND tries >= :most_tries
RETURNING job_id

-- name: fail
UPDATE job
   SET state = 'failed',
       fence = fence + 1,
       error = :error,
       completed_at = :now
 WHERE account_id = :account_id
   AND job_id = :job_id
   AND completed_at IS NULL
   AND {condition}
RETURNING job_id

-- name: retry
UPDATE job
   SET state = 'pending',
       fence = fence + 1,
       tries = 0,
       due_at = {now},
       done = 0,
       error = NULL,
       completed_at = NULL
 WHERE account_id = :account_id
   AND job_id = :job_id
   AND state = 'failed'
   AND NOT EXISTS (SELECT 1
                     FROM job AS o
                    WHERE o.account_id = job.account_id
                      AND o.kind = job.kind
                      AND o.unique_text = job.unique_text
                      AND o.completed_at IS NULL)
RETURNING job_id

-- name: one
SELECT j.account_id, j.job_id, j.kind, j.state, j.tries, j.done, j.total, j.parameters, j.result,
       j.error, j.created_at, j.completed_at, j.expires_at, j.started_at
  FROM job AS j
 WHERE j.account_id = :account_id
   AND j.job_id = :job_id

-- name: of_kind
SELECT j.account_id, j.job_id, j.kind, j.state, j.tries, j.done, j.total, j.parameters, j.result,
       j.error, j.created_at, j.completed_at, j.expires_at, j.started_at
  FROM job AS j
 WHERE j.account_id = :account_id
   AND j.kind = :kind
 ORDER BY j.created_at DESC, j.job_id
 LIMIT :limit

-- name: owner
SELECT j.account_id
  FROM job AS j
 WHERE j.job_id = :job_id

-- name: latest
SELECT j.account_id, j.job_id, j.kind, j.state, j.tries, j.done, j.total, j.parameters, j.result,
       j.error, j.created_at, j.completed_at, j.expires_at, j.started_at
  FROM job AS j
 ORDER BY j.created_at DESC, j.job_id
 LIMIT :limit

-- name: open_page
-- Jobs that are not finished or have failed, by account, the oldest first.
SELECT j.account_id, j.job_id, j.kind, j.state, j.done, j.total, j.error, j.created_at, p.email
  FROM job AS j
  LEFT JOIN person AS p ON p.account_id = j.account_id
 WHERE j.state IN ('pending', 'processing', 'failed')
   AND (j.account_id, j.created_at, j.job_id) > (:account_id, :created_at, :job_id)
 ORDER BY j.account_id, j.created_at, j.job_id
 LIMIT :limit

-- name: counts
SELECT j.kind, j.state, count(*), min(j.created_at)
  FROM job AS j
 GROUP BY j.kind, j.state
 ORDER BY j.kind, j.state

-- name: counts_unfinished
SELECT j.kind, j.state, count(*), min(j.created_at)
  FROM job AS j
 WHERE j.completed_at IS NULL
 GROUP BY j.kind, j.state
 ORDER BY j.kind, j.state

-- name: queue
-- How many jobs are due, how long the first of them has been due, and how many leases are live.
SELECT coalesce(sum(CASE WHEN q.is_due THEN 1 ELSE 0 END), 0),
       coalesce(max(CASE WHEN q.is_due THEN {now} - q.due_at END), 0),
       coalesce(sum(CASE WHEN q.is_due OR q.state <> 'processing' THEN 0 ELSE 1 END), 0)
  FROM (SELECT j.state, j.due_at,
               NOT (j.due_at BETWEEN {now} + 1 AND {now} + :max_ahead) AS is_due
          FROM job AS j
         WHERE j.completed_at IS NULL) AS q

-- name: due_to_expire
SELECT j.account_id, j.job_id, j.kind, j.state, j.tries, j.done, j.total, j.parameters, j.result,
       j.error, j.created_at, j.completed_at, j.expires_at, j.started_at
  FROM job AS j
 WHERE j.expires_at IS NOT NULL
   AND j.expires_at <= :now
 LIMIT :limit

-- name: expire
UPDATE job
   SET state = 'expired',
       expires_at = NULL
 WHERE account_id = :account_id
   AND job_id = :job_id
   AND state = 'completed'

-- name: accounts_with_old
SELECT DISTINCT j.account_id
  FROM job AS j
 WHERE j.completed_at < :before
 ORDER BY j.account_id
 LIMIT :limit

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
