-- name: callers
-- How many accounts called each version since a day, and the day of the last call.
SELECT u.version, count(*), max(u.last_day)
  FROM version_use AS u
 WHERE u.last_day >= :first_day
 GROUP BY u.version
 ORDER BY u.version

-- name: versions
SELECT u.version
  FROM version_use AS u
 WHERE u.account_id = :account_id
   AND u.last_day >= :first_day
 ORDER BY u.version

-- name: put
-- Reads from library, so that a deleted account gets no row.
INSERT INTO version_use (account_id, version, last_day)
SELECT l.account_id, CAST(:version AS text), CAST(:last_day AS bigint)
  FROM library AS l
 WHERE l.account_id = :account_id
    ON CONFLICT (account_id, version) DO UPDATE
   SET last_day = excluded.last_day
 WHERE version_use.last_day < excluded.last_day
