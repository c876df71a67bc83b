-- name: add
-- A post that comes back from the trash may have a row.
INSERT INTO bare_link (account_id, post_id, host, state, reason, tries, due_at, since)
VALUES (:account_id, :post_id, '', 'waiting', '', 0, :now, :now)
    ON CONFLICT (account_id, post_id) DO UPDATE
   SET state = 'waiting', reason = '', tries = 0, due_at = excluded.due_at, since = excluded.since

-- name: due_accounts
SELECT l.account_id
  FROM library AS l
 WHERE l.account_id > :after
   AND EXISTS (SELECT 1 FROM bare_link AS k
                WHERE k.account_id = l.account_id AND k.state = 'waiting' AND k.due_at <= :now)
 ORDER BY l.account_id
 LIMIT :limit

-- name: due_hosts
-- The host of the link that was saved last comes first.
SELECT k.host, count(*)
  FROM bare_link AS k
 WHERE k.account_id = :account_id
   AND k.state = 'waiting'
   AND k.host <> ''
   AND k.due_at <= :now
 GROUP BY k.host
 ORDER BY max(k.due_at) DESC, k.host
 LIMIT :limit

-- name: due
SELECT k.post_id, k.tries, k.since
  FROM bare_link AS k
 WHERE k.account_id = :account_id
   AND k.state = 'waiting'
   AND k.host = :host
   AND k.due_at <= :now
 ORDER BY k.due_at DESC, k.post_id DESC
 LIMIT :limit

-- name: set_host
UPDATE bare_link
   SET host = :host, state = :state, reason = :reason
 WHERE account_id = :account_id
   AND post_id = :post_id

-- name: failed
UPDATE bare_link
   SET state = :state, reason = :reason, tries = :tries, due_at = :due_at
 WHERE account_id = :account_id
   AND post_id = :post_id

-- name: give_up
-- The links of a host that has given no answer for too long.
UPDATE bare_link
   SET state = 'left', reason = :reason
 WHERE account_id = :account_id
   AND state = 'waiting'
   AND post_id IN (SELECT k.post_id
                     FROM bare_link AS k
                    WHERE k.account_id = :account_id
                      AND k.state = 'waiting'
                      AND k.host = :host
                      AND k.since < :before
                    LIMIT :limit)
RETURNING post_id

-- name: postpone
UPDATE bare_link
   SET due_at = :due_at, reason = :reason
 WHERE account_id = :account_id
   AND state = 'waiting'
   AND post_id IN (SELECT k.post_id
                     FROM bare_link AS k
                    WHERE k.account_id = :account_id
                      AND k.state = 'waiting'
                      AND k.host = :host
                      AND k.due_at < :due_at
                    LIMIT :limit)
RETURNING post_id

-- name: one
-- No row if the post has a text.
SELECT k.state, k.reason
  FROM bookmark AS b
  LEFT JOIN bare_link AS k ON k.account_id = :account_id AND k.post_id = b.post_id
 WHERE b.account_id = :account_id
   AND b.post_id = :post_id
   AND b.completeness = 0

-- name: counts
SELECT k.state, k.reason, count(*)
  FROM bare_link AS k
 WHERE k.account_id = :account_id
 GROUP BY k.state, k.reason
 ORDER BY count(*) DESC, k.reason

-- name: bare_posts
-- Posts that are only links, for somebody who asks for all of them again.
SELECT b.number, b.post_id
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND b.number > :after
   AND b.completeness = 0
 ORDER BY b.number
 LIMIT :limit

-- name: take_turn
-- Returns no row if it is not the turn of the host yet.
INSERT INTO host_turn (host, next_at, failures)
VALUES (:host, :next_at, 0)
    ON CONFLICT (host) DO UPDATE
   SET next_at = excluded.next_at
 WHERE host_turn.next_at <= :now
RETURNING failures

-- name: next_turn
SELECT t.next_at
  FROM host_turn AS t
 WHERE t.host = :host

-- name: pause_host
UPDATE host_turn
   SET next_at = :next_at, failures = :failures
 WHERE host = :host

-- name: host_answers
UPDATE host_turn
   SET failures = 0
 WHERE host = :host

-- name: forget_hosts
DELETE FROM host_turn
 WHERE host IN (SELECT t.host FROM host_turn AS t WHERE t.next_at < :before LIMIT :limit)
RETURNING host

-- name: remove
DELETE FROM bare_link
 WHERE account_id = :account_id
   AND post_id = :post_id

-- name: states
-- Of those that are only links.
SELECT b.post_id, k.state, k.reason
  FROM bookmark AS b INDEXED BY bookmark_by_post
  LEFT JOIN bare_link AS k ON k.account_id = :account_id AND k.post_id = b.post_id
 WHERE b.account_id = :account_id
   AND b.post_id = ANY(CAST(:post_ids AS text[]))
   AND b.completeness = 0
