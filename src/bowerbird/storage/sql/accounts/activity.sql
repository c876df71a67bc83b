-- name: insert
-- Reads from library, so that a deleted account gets no row.
INSERT INTO activity (account_id, at, entry_id, kind, detail, address)
SELECT l.account_id, CAST(:at AS bigint), CAST(:entry_id AS text), CAST(:kind AS text),
       CAST(:detail AS text), CAST(:address AS text)
  FROM library AS l
 WHERE l.account_id = :account_id

-- name: page
SELECT a.at, a.entry_id, a.kind, a.detail, a.address
  FROM activity AS a
 WHERE a.account_id = :account_id
   AND (a.at, a.entry_id) < (CAST(:at AS bigint), CAST(:entry_id AS text))
 ORDER BY a.at DESC, a.entry_id DESC
 LIMIT :limit

-- name: remove_some
-- Entries before a time, and those beyond the number that is kept.
DELETE FROM activity
 WHERE account_id = :account_id
   AND (at, entry_id) IN (SELECT a.at, a.entry_id
                            FROM activity AS a
                           WHERE a.account_id = :account_id
                             AND a.at < :before
                           ORDER BY a.at, a.entry_id
                           LIMIT :limit)
RETURNING entry_id

-- name: oldest_kept
-- The oldest of the newest entries.
SELECT min(n.at)
  FROM (SELECT a.at
          FROM activity AS a
         WHERE a.account_id = :account_id
         ORDER BY a.at DESC, a.entry_id DESC
         LIMIT :kept) AS n
