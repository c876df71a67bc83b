-- name: insert
-- Reads from library, so that a deleted account gets no row.
INSERT INTO {table} (account_id, {id}, {hash}, name, created_at, {own})
SELECT l.account_id, CAST(:{id} AS text), :hash, CAST(:name AS text),
       CAST(:created_at AS bigint), CAST(:{own} AS text)
  FROM library AS l
 WHERE l.account_id = :account_id
   AND (SELECT count(*) FROM {table} AS t
         WHERE t.account_id = :account_id AND t.revoked_at IS NULL) < CAST(:most AS bigint)
RETURNING {id}

-- name: list
SELECT {columns}
  FROM {table} AS t
 WHERE t.account_id = :account_id
 ORDER BY t.created_at, t.{id}

-- name: revoke
UPDATE {table}
   SET revoked_at = :revoked_at
 WHERE account_id = :account_id
   AND ({id} = :id OR {hash} = :hash)
   AND revoked_at IS NULL
RETURNING {id}, name

-- name: forget_revoked
-- Removes those that were revoked first, beyond the given number.
DELETE FROM {table}
 WHERE account_id = :account_id
   AND revoked_at IS NOT NULL
   AND {id} NOT IN (SELECT t.{id}
                      FROM {table} AS t
                     WHERE t.account_id = :account_id
                       AND t.revoked_at IS NOT NULL
                     ORDER BY t.revoked_at DESC, t.{id}
                     LIMIT :kept)
