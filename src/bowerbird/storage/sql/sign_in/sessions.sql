-- name: insert
-- Reads from library, so that a deleted account gets no row.
INSERT INTO web_session (account_id, session_hash, session_id, method, device, address,
                         created_at, last_used_at, proved_at)
SELECT l.account_id, :session_hash, CAST(:session_id AS text), CAST(:method AS text),
       CAST(:device AS text), CAST(:address AS text), CAST(:created_at AS bigint),
       CAST(:last_used_at AS bigint), CAST(:proved_at AS bigint)
  FROM library AS l
 WHERE l.account_id = :account_id
RETURNING session_id

-- name: by_token
-- The only read that a signed-in page needs for its visitor.
SELECT l.account_id, l.local_number, l.plan, l.epoch, l.version,
       l.total, l.unread, l.archived, l.fresh,
       coalesce((SELECT c.calls
                   FROM api_call AS c
                  WHERE c.account_id = :account_id
                    AND c.month = :month), 0),
       coalesce((SELECT TRUE
                   FROM bare_link AS bl
                  WHERE bl.account_id = :account_id
                  LIMIT 1), FALSE),
       p.email, p.is_owner,
       coalesce(d.time_zone, 'UTC'), coalesce(d.is_zone_chosen, FALSE),
       l.favourite, l.marks_read,
       s.session_id, s.method, s.device, s.address, s.created_at, s.last_used_at, s.proved_at
  FROM web_session AS s
  JOIN library AS l ON l.account_id = s.account_id
  JOIN person AS p ON p.account_id = s.account_id
  LEFT JOIN digest_preference AS d ON d.account_id = s.account_id
 WHERE s.account_id = :account_id
   AND s.session_hash = :session_hash
   AND s.last_used_at > :used_after
   AND s.created_at > :created_after

-- name: list
SELECT s.session_id, s.method, s.device, s.address, s.created_at, s.last_used_at, s.proved_at
  FROM web_session AS s
 WHERE s.account_id = :account_id
   AND s.last_used_at > :used_after
   AND s.created_at > :created_after
 ORDER BY s.last_used_at DESC, s.session_id
 LIMIT :limit

-- name: end
DELETE FROM web_session
 WHERE account_id = :account_id
   AND session_id = :session_id
RETURNING device

-- name: end_others
DELETE FROM web_session
 WHERE account_id = :account_id
   AND session_id <> :session_id
RETURNING session_id

-- name: end_expired
DELETE FROM web_session
 WHERE account_id = :account_id
   AND (last_used_at <= :used_after OR created_at <= :created_after)
RETURNING session_id

-- name: end_beyond
-- Ends the sessions that were used least recently, beyond the given number.
DELETE FROM web_session
 WHERE account_id = :account_id
   AND session_id NOT IN (SELECT s.session_id
                            FROM web_session AS s
                           WHERE s.account_id = :account_id
                           ORDER BY s.last_used_at DESC, s.session_id
                           LIMIT :most)
RETURNING session_id

-- name: replace_token
UPDATE web_session
   SET session_hash = :new_hash,
       proved_at = :proved_at,
       last_used_at = :proved_at,
       method = :method,
       address = :address,
       device = :device
 WHERE account_id = :account_id
   AND session_id = :session_id
RETURNING session_id

-- name: note_use
UPDATE web_session
   SET last_used_at = :last_used_at
 WHERE account_id = :account_id
   AND session_id = :session_id
   AND last_used_at < :last_used_at
