-- name: now
-- The database's clock in microseconds, so that the leases of all machines use one clock. The time of
-- the statement's start, because Citus refuses a clock that goes on while an UPDATE runs.
CAST(date_part('epoch', statement_timestamp()) * 1000000 AS bigint)

-- name: turns
-- Reads the index in the order of accounts, up to a limit. Per account: the job that has been due
-- longest, if any is due; the number of running jobs; the time the last job started.
-- A job is also due if its time is further ahead than any lease or pause: the clock was set back.
-- Not recursive as on SQLite, because Citus cannot run a recursive query for many accounts.
SELECT o.account_id,
       (array_agg(o.job_id ORDER BY o.due_at, o.created_at, o.job_id)
           FILTER (WHERE NOT (o.due_at BETWEEN {now} + 1 AND {now} + :max_ahead)
                     AND o.kind = ANY(CAST(:kinds AS text[]))))[1] AS job_id,
       (SELECT count(*)
          FROM job AS r
         WHERE r.account_id = o.account_id
           AND r.state = 'processing'
           AND r.due_at > {now}
           AND r.due_at <= {now} + :max_ahead) AS running,
       coalesce((SELECT max(s.started_at) FROM job AS s WHERE s.account_id = o.account_id), 0)
           AS last_started_at
  FROM job AS o
 WHERE o.completed_at IS NULL
   AND o.priority = :priority
   AND o.account_id > :after
 GROUP BY o.account_id
 ORDER BY o.account_id
 LIMIT :limit
