-- name: now
-- The database's clock in microseconds, so that the leases of all machines use one clock.
CAST(unixepoch('subsec') * 1000000 AS INTEGER)

-- name: turns
-- Jumps from account to account along the index, up to a limit. Per account: the job that has
-- been due longest, if any is due; the number of running jobs; the time the last job started.
-- A job is also due if its time is further ahead than any lease or pause: the clock was set back.
WITH RECURSIVE visited (account_id, steps) AS (
    SELECT (SELECT min(o.account_id)
              FROM job AS o
             WHERE o.completed_at IS NULL
               AND o.priority = :priority
               AND o.account_id > :after), 1
     UNION ALL
    SELECT (SELECT min(o.account_id)
              FROM job AS o
             WHERE o.completed_at IS NULL
               AND o.priority = :priority
               AND o.account_id > v.account_id), v.steps + 1
      FROM visited AS v
     WHERE v.account_id IS NOT NULL
       AND v.steps < :limit
)
SELECT v.account_id,
       (SELECT o.job_id
          FROM job AS o
         WHERE o.completed_at IS NULL
           AND o.priority = :priority
           AND o.account_id = v.account_id
           AND NOT (o.due_at BETWEEN {now} + 1 AND {now} + :max_ahead)
           AND o.kind = ANY(CAST(:kinds AS text[]))
         ORDER BY o.due_at, o.created_at, o.job_id
         LIMIT 1) AS job_id,
       (SELECT count(*)
          FROM job AS r
         WHERE r.account_id = v.account_id
           AND r.state = 'processing'
           AND r.due_at > {now}
           AND r.due_at <= {now} + :max_ahead) AS running,
       coalesce((SELECT max(s.started_at) FROM job AS s WHERE s.account_id = v.account_id), 0)
           AS last_started_at
  FROM visited AS v
 WHERE v.account_id IS NOT NULL
