-- name: count
SELECT count(*)
  FROM bookmark AS b
 WHERE b.account_id = :account_id

-- name: losses
SELECT (SELECT count(*) FROM label AS l WHERE l.account_id = :account_id),
       (SELECT count(*) FROM smart_view AS v WHERE v.account_id = :account_id),
       (SELECT count(*) FROM api_key AS k
         WHERE k.account_id = :account_id AND k.revoked_at IS NULL)

-- name: release_ownership
UPDATE person
   SET is_owner = FALSE
 WHERE account_id = :account_id
   AND is_owner

-- name: first_bookmarks
SELECT b.number
  FROM bookmark AS b
 WHERE b.account_id = :account_id
 ORDER BY b.number
 LIMIT :limit

-- name: delete_attachments
DELETE FROM bookmark_label
 WHERE account_id = :account_id
   AND number <= :last

-- name: delete_bookmarks
DELETE FROM bookmark
 WHERE account_id = :account_id
   AND number <= :last

-- name: delete_vectors
DELETE FROM vector
 WHERE account_id = :account_id
   AND number <= :last

-- name: all_rows
DELETE FROM {table}
 WHERE account_id = :account_id

-- name: some_rows
-- In the order of the primary key.
DELETE FROM {table}
 WHERE account_id = :account_id
   AND ({key}) IN (SELECT {key}
                     FROM {table} AS x
                    WHERE x.account_id = :account_id
                    ORDER BY {key}
                    LIMIT :limit)
RETURNING account_id
