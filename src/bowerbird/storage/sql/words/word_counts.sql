-- name: is_pending
SELECT EXISTS (SELECT 1 FROM word_change AS p WHERE p.account_id = :account_id)

-- name: add_later
INSERT INTO word_change (account_id, number, changes)
SELECT CAST(:account_id AS bigint), coalesce(max(p.number), 0) + 1, CAST(:changes AS text)
  FROM word_change AS p
 WHERE p.account_id = :account_id

-- name: next_pending
SELECT p.number, p.changes
  FROM word_change AS p
 WHERE p.account_id = :account_id
 ORDER BY p.number
 LIMIT 1

-- name: delete_pending
DELETE FROM word_change
 WHERE account_id = :account_id
   AND number = :number
