-- name: columns
w.webhook_id, w.url, w.events, w.tag, w.query, w.state, w.problem, w.sealed, w.rotated_at,
       w.delivered, w.failures, w.failing_since, w.next_try_at, w.is_untold, w.last_sent_at,
       w.created_at, w.updated_at

-- name: delivery_columns
d.webhook_id, d.message_id, d.type, d.state, d.tries, d.created_at, d.tried_at, d.took_ms,
       d.status, d.answer, d.problem

-- name: insert
-- Reads from library: it begins with the next event, and a deleted account gets no row.
INSERT INTO webhook (account_id, webhook_id, url, events, tag, query, state, problem, sealed,
                     rotated_at, delivered, failures, failing_since, next_try_at, is_untold,
                     last_sent_at, created_at, updated_at)
SELECT l.account_id, CAST(:webhook_id AS text), CAST(:url AS text), CAST(:events AS text),
       CAST(:tag AS text), CAST(:query AS text), CAST(:state AS text), '', :sealed, NULL, l.events,
       0, NULL, CAST(:now AS bigint), false, NULL, CAST(:now AS bigint), CAST(:now AS bigint)
  FROM library AS l
 WHERE l.account_id = :account_id
   AND (SELECT count(*) FROM webhook AS w
         WHERE w.account_id = :account_id) < CAST(:most AS bigint)
RETURNING webhook_id

-- name: list
SELECT {columns}
  FROM webhook AS w
 WHERE w.account_id = :account_id
 ORDER BY w.created_at, w.webhook_id

-- name: one
SELECT {columns}
  FROM webhook AS w
 WHERE w.account_id = :account_id
   AND w.webhook_id = :webhook_id

-- name: due_accounts
-- A free account gets nothing, and what happens meanwhile is sent if it has a paid plan again.
SELECT DISTINCT w.account_id
  FROM webhook AS w
  JOIN library AS l
    ON l.account_id = w.account_id
 WHERE w.account_id > :after
   AND (w.state = 'active' OR w.is_untold)
   AND w.next_try_at <= :now
   AND (w.delivered < l.events OR w.is_untold)
   AND l.plan <> 'free'
 ORDER BY w.account_id
 LIMIT :limit

-- name: waiting_accounts
SELECT DISTINCT d.account_id
  FROM webhook_delivery AS d
 WHERE d.account_id > :after
   AND d.state = 'waiting'
 ORDER BY d.account_id
 LIMIT :limit

-- name: change
UPDATE webhook
   SET url = :url, events = :events, tag = :tag, query = :query, state = :state,
       problem = :problem, failures = :failures, failing_since = :failing_since,
       next_try_at = :next_try_at, is_untold = :is_untold, updated_at = :updated_at
 WHERE account_id = :account_id
   AND webhook_id = :webhook_id
RETURNING webhook_id

-- name: put_secrets
UPDATE webhook
   SET sealed = :sealed, rotated_at = :rotated_at, updated_at = :now
 WHERE account_id = :account_id
   AND webhook_id = :webhook_id
RETURNING webhook_id

-- name: hurry
UPDATE webhook
   SET next_try_at = :now
 WHERE account_id = :account_id
   AND webhook_id = :webhook_id

-- name: delete
DELETE FROM webhook
 WHERE account_id = :account_id
   AND webhook_id = :webhook_id
RETURNING url

-- name: delete_messages
DELETE FROM webhook_delivery
 WHERE account_id = :account_id
   AND webhook_id = :webhook_id

-- name: advance
-- Returns no row if another worker was faster.
UPDATE webhook
   SET delivered = :delivered, failures = 0, failing_since = NULL, problem = '',
       last_sent_at = coalesce(CAST(:sent_at AS bigint), last_sent_at)
 WHERE account_id = :account_id
   AND webhook_id = :webhook_id
   AND delivered = :before
RETURNING webhook_id

-- name: give_up
-- The message that failed is behind the webhook now. If it was just sent, that is noted next.
UPDATE webhook_delivery
   SET state = 'failed'
 WHERE account_id = :account_id
   AND webhook_id = :webhook_id
   AND state = 'retrying'

-- name: fail
-- Not if a person has paused it or changed its address since.
UPDATE webhook
   SET failures = failures + 1, failing_since = coalesce(failing_since, :now),
       problem = :problem, next_try_at = :next_try_at, state = :state, is_untold = :is_untold
 WHERE account_id = :account_id
   AND webhook_id = :webhook_id
   AND delivered = :before
   AND state = 'active'
   AND url = :url
RETURNING webhook_id

-- name: set_untold
UPDATE webhook
   SET is_untold = :is_untold, next_try_at = :next_try_at
 WHERE account_id = :account_id
   AND webhook_id = :webhook_id
   AND is_untold

-- name: put_delivery
-- Reads from webhook, so that a deleted one gets no row.
INSERT INTO webhook_delivery (account_id, webhook_id, message_id, type, state, tries, created_at,
                              tried_at, took_ms, status, answer, problem, body)
SELECT w.account_id, w.webhook_id, CAST(:message_id AS text), CAST(:type AS text),
       CAST(:state AS text), CAST(:tries AS bigint), CAST(:created_at AS bigint),
       CAST(:tried_at AS bigint), CAST(:took_ms AS bigint), CAST(:status AS bigint),
       CAST(:answer AS text), CAST(:problem AS text), :body
  FROM webhook AS w
 WHERE w.account_id = :account_id
   AND w.webhook_id = :webhook_id
    ON CONFLICT (account_id, webhook_id, message_id) DO UPDATE
   SET state = excluded.state, tries = webhook_delivery.tries + excluded.tries,
       tried_at = coalesce(excluded.tried_at, webhook_delivery.tried_at),
       took_ms = excluded.took_ms, status = excluded.status, answer = excluded.answer,
       problem = excluded.problem, body = excluded.body
RETURNING webhook_id

-- name: forget
-- The latest are kept, and those that are still to be sent.
DELETE FROM webhook_delivery
 WHERE account_id = :account_id
   AND webhook_id = :webhook_id
   AND state NOT IN ('waiting', 'retrying')
   AND message_id NOT IN (SELECT d.message_id
                            FROM webhook_delivery AS d
                           WHERE d.account_id = :account_id
                             AND d.webhook_id = :webhook_id
                           ORDER BY d.created_at DESC, d.message_id DESC
                           LIMIT :kept)

-- name: deliveries
SELECT {delivery_columns}
  FROM webhook_delivery AS d
 WHERE d.account_id = :account_id
   AND d.webhook_id = :webhook_id
 ORDER BY d.created_at DESC, d.message_id DESC
 LIMIT :limit

-- name: latest
SELECT {delivery_columns}
  FROM webhook_delivery AS d
 WHERE d.account_id = :account_id
 ORDER BY d.created_at DESC, d.message_id DESC
 LIMIT :limit

-- name: delivery
SELECT {delivery_columns}, d.body
  FROM webhook_delivery AS d
 WHERE d.account_id = :account_id
   AND d.webhook_id = :webhook_id
   AND d.message_id = :message_id

-- name: waiting
SELECT {delivery_columns}, d.body
  FROM webhook_delivery AS d
 WHERE d.account_id = :account_id
   AND d.state = 'waiting'
 ORDER BY d.created_at, d.message_id
 LIMIT :limit

-- name: count_waiting
SELECT count(*)
  FROM webhook_delivery AS d
 WHERE d.account_id = :account_id
   AND d.state = 'waiting'
