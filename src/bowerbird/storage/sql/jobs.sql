-- name: add
-- Gives no row when the same is unfinished already, nor for an account that was deleted since.
INSERT INTO job (account_id, job_id, kind, unique_text, parameters, priority, state, tries, fence,
                 due_at, done, total, created_at)
SELECT l.account_id, CAST(:job_id AS text), CAST(:kind AS text), CAST(:unique_text AS text), {bytes},
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

-- name: is_any_due
SELECT o.job_id
  FROM job AS o
 WHERE o.completed_at IS NULL
   AND o.due_at <= {now}
   AND o.priority <= :most_priority
   AND {one_of_kinds}
 LIMIT 1

-- name: next_due
-- Of each account its first job that is due; of these the most urgent, then that of the account
-- that has the fewest at work, then of the one that was served longest ago.
SELECT j.account_id, j.job_id, j.tries
  FROM (SELECT o.account_id, o.job_id,
               row_number() OVER (PARTITION BY o.account_id
                                  ORDER BY o.priority, o.created_at, o.job_id) AS place
          FROM job AS o
         WHERE o.completed_at IS NULL
           AND o.due_at <= {now}
           AND o.priority <= :most_priority
           AND {one_of_kinds}) AS first_due
  JOIN job AS j ON j.account_id = first_due.account_id AND j.job_id = first_due.job_id
 WHERE first_due.place = 1
   AND j.completed_at IS NULL
   AND j.due_at <= {now}
 ORDER BY j.priority,
          (SELECT count(*)
             FROM job AS r
            WHERE r.account_id = j.account_id
              AND r.completed_at IS NULL
              AND r.state = 'processing'
              AND r.due_at > {now}),
          coalesce((SELECT max(s.started_at) FROM job AS s WHERE s.account_id = j.account_id), 0),
          j.created_at, j.job_id
 LIMIT 1
{lock}

-- name: claim
UPDATE job
   SET state = 'processing',
       tries = tries + 1,
       fence = fence + 1,
       due_at = {now} + :lease,
       started_at = {now},
       done = 0
 WHERE account_id = :account_id
   AND job_id = :job_id
RETURNING account_id, job_id, kind, parameters, tries, priority, fence

-- name: hold
-- Says how far the work is, and that its worker lives. Gives no row when the job was lost.
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

-- name: put_off
-- Back into the queue, after a pause.
UPDATE job
   SET state = 'pending',
       fence = fence + 1,
       tries = :tries,
       due_at = {now} + :pause,
       error = :error
 WHERE account_id = :account_id
   AND job_id = :job_id
   AND fence = :fence
   AND completed_at IS NULL
RETURNING fence

-- name: fail
UPDATE job
   SET state = 'failed',
       fence = fence + 1,
       error = :error,
       completed_at = :now
 WHERE account_id = :account_id
   AND job_id = :job_id
   AND completed_at IS NULL
   AND {held}
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
       j.error, j.created_at, j.completed_at, j.expires_at
  FROM job AS j
 WHERE j.account_id = :account_id
   AND j.job_id = :job_id

-- name: owner
SELECT j.account_id
  FROM job AS j
 WHERE j.job_id = :job_id

-- name: latest
SELECT j.account_id, j.job_id, j.kind, j.state, j.tries, j.done, j.total, j.parameters, j.result,
       j.error, j.created_at, j.completed_at, j.expires_at
  FROM job AS j
 ORDER BY j.created_at DESC, j.job_id
 LIMIT :limit

-- name: counts
SELECT j.kind, j.state, count(*), min(j.created_at)
  FROM job AS j
 GROUP BY j.kind, j.state
 ORDER BY j.kind, j.state

-- name: due_to_expire
SELECT j.account_id, j.job_id, j.kind, j.state, j.tries, j.done, j.total, j.parameters, j.result,
       j.error, j.created_at, j.completed_at, j.expires_at
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
