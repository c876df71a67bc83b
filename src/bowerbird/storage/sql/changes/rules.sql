-- name: columns
r.rule_id, r.position, r.name, r.body, r.is_on, r.since, r.created_at, r.updated_at, r.fired,
r.last_fired_at, r.failures, r.notice

-- name: all
SELECT {columns}
  FROM rule AS r
 WHERE r.account_id = :account_id
 ORDER BY r.position, r.created_at, r.rule_id

-- name: put
-- What the rule has done stays: its statements are below.
INSERT INTO rule (account_id, rule_id, position, name, body, is_on, since, created_at, updated_at,
                  fired, last_fired_at, failures, notice)
VALUES (:account_id, :rule_id, :position, :name, :body, :is_on, :since, :created_at, :updated_at,
        :fired, :last_fired_at, :failures, :notice)
    ON CONFLICT (account_id, rule_id) DO UPDATE
   SET position = excluded.position,
       name = excluded.name,
       body = excluded.body,
       is_on = excluded.is_on,
       since = excluded.since,
       updated_at = excluded.updated_at,
       failures = excluded.failures,
       notice = excluded.notice

-- name: place
UPDATE rule
   SET position = :position
 WHERE account_id = :account_id
   AND rule_id = :rule_id

-- name: delete
DELETE FROM rule
 WHERE account_id = :account_id
   AND rule_id = :rule_id

-- name: fired
UPDATE rule
   SET fired = fired + :posts, last_fired_at = :now, failures = 0
 WHERE account_id = :account_id
   AND rule_id = :rule_id

-- name: failed
UPDATE rule
   SET failures = :failures, is_on = :is_on, notice = :notice
 WHERE account_id = :account_id
   AND rule_id = :rule_id

-- name: state
SELECT s.is_active, s.version, s.seen, s.night_at
  FROM rule_state AS s
 WHERE s.account_id = :account_id

-- name: put_state
INSERT INTO rule_state (account_id, is_active, version, seen, night_at)
VALUES (:account_id, :is_active, :version, :seen, :night_at)
    ON CONFLICT (account_id) DO UPDATE
   SET is_active = excluded.is_active,
       version = excluded.version,
       seen = excluded.seen,
       night_at = excluded.night_at

-- name: due_accounts
-- Accounts with rules that have not seen the last event, or whose night has come.
SELECT s.account_id
  FROM rule_state AS s
  JOIN library AS l ON l.account_id = s.account_id
 WHERE s.account_id > :after
   AND s.is_active
   AND (l.events > s.seen OR s.night_at <= :now)
 ORDER BY s.account_id
 LIMIT :limit

-- name: log
SELECT g.number, g.rule_id, g.at, g.entry
  FROM rule_log AS g
 WHERE g.account_id = :account_id
 ORDER BY g.number DESC
 LIMIT :limit

-- name: last_logged
SELECT coalesce(max(g.number), 0)
  FROM rule_log AS g
 WHERE g.account_id = :account_id

-- name: add_to_log
INSERT INTO rule_log (account_id, number, rule_id, at, entry)
VALUES (:account_id, :number, :rule_id, :at, :entry)

-- name: shorten_log
DELETE FROM rule_log
 WHERE account_id = :account_id
   AND number <= :last
