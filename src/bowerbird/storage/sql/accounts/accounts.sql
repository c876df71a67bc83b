-- name: by_key
-- The only read that every request needs: account, plan and counters.
-- Subqueries, because SQLite runs them in 5 µs and the same joins in 30 µs. The last condition
-- follows from the one before it, but only with it does Citus ask one node instead of all.
SELECT l.account_id, l.local_number, l.plan, l.epoch, l.version,
       l.total, l.unread, l.archived, l.fresh,
       coalesce((SELECT c.calls
                   FROM api_call AS c
                  WHERE c.account_id = :account_id
                    AND c.month = :month), 0),
       EXISTS (SELECT 1 FROM bare_link AS bl WHERE bl.account_id = :account_id)
  FROM library AS l
 WHERE l.account_id = (SELECT k.account_id
                         FROM api_key AS k
                        WHERE k.account_id = :account_id
                          AND k.key_hash = :key_hash
                          AND k.revoked_at IS NULL)
   AND l.account_id = :account_id

-- name: by_id
SELECT l.account_id, l.local_number, l.plan, l.epoch, l.version,
       l.total, l.unread, l.archived, l.fresh, coalesce(c.calls, 0),
       EXISTS (SELECT 1 FROM bare_link AS bl WHERE bl.account_id = :account_id)
  FROM library AS l
  LEFT JOIN api_call AS c ON c.account_id = l.account_id AND c.month = :month
 WHERE l.account_id = :account_id

-- name: id_of_email
SELECT p.account_id
  FROM person AS p
 WHERE p.email_key = :email_key

-- name: person
SELECT p.account_id
  FROM person AS p
 WHERE p.account_id = :account_id

-- name: other_account
SELECT 1
  FROM library AS l
 WHERE l.account_id <> :account_id
 LIMIT 1

-- name: partly_deleted
-- The first step of a removal deletes the library, the last one the person.
WITH person_id AS MATERIALIZED (SELECT p.account_id FROM person AS p)
SELECT p.account_id
  FROM person_id AS p
  LEFT JOIN library AS l ON l.account_id = p.account_id
 WHERE l.account_id IS NULL
 ORDER BY p.account_id
 LIMIT :limit

-- name: every_account
SELECT p.account_id, p.email, l.plan, l.total, p.created_at
  FROM person AS p
  JOIN library AS l ON l.account_id = p.account_id
 ORDER BY p.created_at, p.account_id

-- name: count_accounts
SELECT count(*) FROM person

-- name: count_some
-- Counts up to a limit.
SELECT count(*) FROM (SELECT 1 AS one FROM person LIMIT :limit) AS counted

-- name: page
-- The newest first, before a given one.
SELECT p.account_id, p.email, l.plan, l.total, p.created_at, p.is_owner
  FROM person AS p
  JOIN library AS l ON l.account_id = p.account_id
 WHERE (p.created_at, p.account_id) < (:created_at, :account_id)
 ORDER BY p.created_at DESC, p.account_id DESC
 LIMIT :limit

-- name: starting_with
-- By email address.
SELECT p.account_id, p.email, l.plan, l.total, p.created_at, p.is_owner
  FROM person AS p
  JOIN library AS l ON l.account_id = p.account_id
 WHERE p.email_key >= :first
   AND p.email_key < :end
 ORDER BY p.email_key
 LIMIT :limit

-- name: membership
SELECT p.account_id, p.email, l.plan, l.total, p.created_at
  FROM person AS p
  JOIN library AS l ON l.account_id = p.account_id
 WHERE p.account_id = :account_id

-- name: insert_person
-- Returns no row if the email address is taken, or if another account becomes the owner's now.
INSERT INTO person (account_id, email, email_key, created_at, is_owner)
SELECT CAST(:account_id AS bigint), CAST(:email AS text), CAST(:email_key AS text),
       CAST(:created_at AS bigint),
       :may_own AND NOT EXISTS (SELECT 1 FROM person AS p WHERE p.is_owner)
 WHERE TRUE
    ON CONFLICT DO NOTHING
RETURNING account_id

-- name: insert_library
INSERT INTO library (account_id, local_number, plan, epoch, version, next_number, next_label_id,
                     total, unread, archived, fresh, created_at)
VALUES (:account_id, :local_number, :plan, :epoch, 1, 1, 1, 0, 0, 0, 0, :created_at)

-- name: insert_digest_preference
-- A weekly digest, not emailed, starting with the current week.
INSERT INTO digest_preference (account_id, frequency, time_zone, hour, is_mailed, since, due_at)
VALUES (:account_id, 'weekly', 'UTC', 8, FALSE, :created_at, 0)

-- name: set_plan
UPDATE library
   SET plan = :plan, version = version + 1
 WHERE account_id = :account_id

-- name: removed_posts
SELECT l.removed_posts
  FROM library AS l
 WHERE l.account_id = :account_id

-- name: set_removed_posts
UPDATE library
   SET removed_posts = :choice
 WHERE account_id = :account_id

-- name: reading
SELECT l.favourite, l.marks_read
  FROM library AS l
 WHERE l.account_id = :account_id

-- name: set_reading
-- Another version, because lists of is:starred may change.
UPDATE library
   SET favourite = :favourite, marks_read = :marks_read, version = version + 1
 WHERE account_id = :account_id

-- name: add_calls
-- Reads from library, so that a deleted account gets no row.
INSERT INTO api_call (account_id, month, calls)
SELECT l.account_id, CAST(:month AS bigint), CAST(:calls AS bigint)
  FROM library AS l
 WHERE l.account_id = :account_id
    ON CONFLICT (account_id, month) DO UPDATE
   SET calls = api_call.calls + excluded.calls

-- name: charge_call
-- Returns no row if the limit is reached, or if the account has been deleted.
INSERT INTO api_call (account_id, month, calls)
SELECT l.account_id, CAST(:month AS bigint), 1
  FROM library AS l
 WHERE l.account_id = :account_id
   AND CAST(:limit AS bigint) > 0
    ON CONFLICT (account_id, month) DO UPDATE
   SET calls = api_call.calls + 1
 WHERE api_call.calls < CAST(:limit AS bigint)
RETURNING calls

-- name: owner
SELECT p.account_id, p.email
  FROM person AS p
 WHERE p.is_owner

-- name: take_ownership
UPDATE person
   SET is_owner = FALSE
 WHERE is_owner

-- name: give_ownership
UPDATE person
   SET is_owner = TRUE
 WHERE account_id = :account_id
RETURNING account_id

-- name: set_email
-- Returns no row if another account has the address.
UPDATE person
   SET email = :email, email_key = :email_key
 WHERE account_id = :account_id
   AND NOT EXISTS (SELECT 1
                     FROM person AS other
                    WHERE other.email_key = :email_key
                      AND other.account_id <> :account_id)
RETURNING account_id
