-- name: used
SELECT u.uses, u.bytes
  FROM daily_use AS u
 WHERE u.account_id = :account_id
   AND u.resource = :resource
   AND u.day = :day

-- name: add
-- Starts at zero on a new day. Reads from library, so that a deleted account gets no row.
INSERT INTO daily_use (account_id, resource, day, uses, bytes)
SELECT CAST(:account_id AS bigint), CAST(:resource AS text), CAST(:day AS bigint),
       CAST(:uses AS bigint), CAST(:bytes AS bigint)
  FROM library AS l
 WHERE l.account_id = :account_id
    ON CONFLICT (account_id, resource) DO UPDATE
   SET uses = excluded.uses + CASE WHEN daily_use.day = excluded.day THEN daily_use.uses ELSE 0 END,
       bytes = excluded.bytes + CASE WHEN daily_use.day = excluded.day THEN daily_use.bytes ELSE 0 END,
       day = excluded.day
RETURNING uses, bytes

-- name: give_back
UPDATE daily_use
   SET bytes = bytes - :bytes
 WHERE account_id = :account_id
   AND resource = :resource
   AND day = :day
