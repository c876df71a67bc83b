-- name: columns
d.kind, d.first_day, d.time_zone, d.made_at, d.contents, d.mail_state, d.mail_tries, d.mail_at, d.mail_reason

-- name: preferences
SELECT p.frequency, p.time_zone, p.hour, p.is_mailed, p.since, p.is_zone_chosen,
       p.updated_at, p.has_highlight
  FROM digest_preference AS p
 WHERE p.account_id = :account_id

-- name: put_preferences
INSERT INTO digest_preference (account_id, frequency, time_zone, hour, is_mailed, since, due_at,
                               is_zone_chosen, updated_at, has_highlight)
VALUES (:account_id, :frequency, :time_zone, :hour, :is_mailed, :since, :due_at, :is_zone_chosen,
        :updated_at, :has_highlight)
    ON CONFLICT (account_id) DO UPDATE
   SET frequency = excluded.frequency,
       time_zone = excluded.time_zone,
       hour = excluded.hour,
       is_mailed = excluded.is_mailed,
       since = excluded.since,
       due_at = excluded.due_at,
       is_zone_chosen = excluded.is_zone_chosen,
       updated_at = excluded.updated_at,
       has_highlight = excluded.has_highlight

-- name: set_due
UPDATE digest_preference
   SET due_at = :due_at
 WHERE account_id = :account_id

-- name: settle
UPDATE digest_preference
   SET since = :since
 WHERE account_id = :account_id

-- name: due_accounts
-- Reads only the index, which has two numbers per account. Skips accounts that already have a
-- job.
SELECT p.account_id
  FROM digest_preference AS p
 WHERE p.account_id > :after
   AND p.due_at <= :now
   AND NOT EXISTS (SELECT 1
                     FROM job AS j
                    WHERE j.account_id = p.account_id
                      AND j.kind = :job_kind
                      AND j.completed_at IS NULL)
 ORDER BY p.account_id
 LIMIT :limit

-- name: put
-- Returns no row if the period already has a digest.
INSERT INTO digest (account_id, kind, first_day, end_day, time_zone, made_at, contents,
                    mail_state, mail_tries, mail_at, mail_reason)
VALUES (:account_id, :kind, :first_day, :end_day, :time_zone, :made_at, :contents,
        :mail_state, :mail_tries, :mail_at, :mail_reason)
    ON CONFLICT (account_id, kind, first_day) DO NOTHING
RETURNING first_day

-- name: by_period
SELECT {columns}
  FROM digest AS d
 WHERE d.account_id = :account_id
   AND d.kind = :kind
   AND d.first_day = :first_day

-- name: page
SELECT {columns}
  FROM digest AS d
 WHERE d.account_id = :account_id
   AND (d.end_day, d.kind) < (:end_day, :kind)
 ORDER BY d.end_day DESC, d.kind DESC
 LIMIT :limit

-- name: count
SELECT count(*)
  FROM digest AS d
 WHERE d.account_id = :account_id

-- name: unsent
-- Emails that are pending or being sent, including those whose worker stopped.
SELECT {columns}
  FROM digest AS d
 WHERE d.account_id = :account_id
   AND d.mail_state IN ('waiting', 'sending')
 ORDER BY d.mail_at, d.kind, d.first_day
 LIMIT :limit

-- name: set_mailing
-- Returns no row if another worker changed the status first.
UPDATE digest
   SET mail_state = :mail_state, mail_tries = :mail_tries, mail_at = :mail_at,
       mail_reason = :mail_reason
 WHERE account_id = :account_id
   AND kind = :kind
   AND first_day = :first_day
   AND mail_state = :found_state
   AND mail_tries = :found_tries
RETURNING first_day

-- name: take_token
-- An account that an older release created may have no row yet.
INSERT INTO digest_preference (account_id, frequency, time_zone, hour, is_mailed, since, due_at,
                               unsubscribe_token)
VALUES (:account_id, 'weekly', 'UTC', 8, FALSE, 0, 0, :token)
    ON CONFLICT (account_id) DO UPDATE
   SET unsubscribe_token = coalesce(digest_preference.unsubscribe_token,
                                    excluded.unsubscribe_token)
RETURNING unsubscribe_token

-- name: token
SELECT p.unsubscribe_token
  FROM digest_preference AS p
 WHERE p.account_id = :account_id
