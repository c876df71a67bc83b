-- name: callers_of_version
-- A partly deleted account has no library row, and gets no email.
SELECT u.account_id, p.email, n.state, n.changed_at
  FROM version_use AS u
  JOIN library AS l ON l.account_id = u.account_id
  LEFT JOIN person AS p ON p.account_id = u.account_id
  LEFT JOIN sunset_notice AS n ON n.account_id = u.account_id AND n.version = u.version
 WHERE u.version = :version
   AND u.last_day >= :first_day
   AND u.account_id > :after
 ORDER BY u.account_id
 LIMIT :limit

-- name: claim
-- Returns no row if the notice is already claimed.
INSERT INTO sunset_notice (account_id, version, state, changed_at)
VALUES (:account_id, :version, :state, :now)
    ON CONFLICT (account_id, version) DO NOTHING
RETURNING account_id

-- name: claim_again
-- Only if nobody has changed the notice since it was read.
UPDATE sunset_notice
   SET state = :state, changed_at = :now
 WHERE account_id = :account_id
   AND version = :version
   AND state = :seen_state
   AND changed_at = :seen_at
RETURNING account_id

-- name: complete
UPDATE sunset_notice
   SET state = :state, changed_at = :now
 WHERE account_id = :account_id
   AND version = :version

-- name: release
DELETE FROM sunset_notice
 WHERE account_id = :account_id
   AND version = :version
