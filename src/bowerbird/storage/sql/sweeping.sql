-- name: next_accounts
-- A page of accounts, and whether each has expired responses, deleted bookmarks or logs of imports.
SELECT l.account_id,
       EXISTS (SELECT 1
                 FROM idempotency AS i
                WHERE i.account_id = l.account_id
                  AND i.created_at < :answers_before),
       EXISTS (SELECT 1
                 FROM trash AS t
                WHERE t.account_id = l.account_id
                  AND t.trashed_at < :trash_before),
       EXISTS (SELECT 1
                 FROM import_run AS r
                WHERE r.account_id = l.account_id
                  AND r.log_bytes > 0
                  AND r.undo_until < :logs_before)
  FROM library AS l
 WHERE l.account_id > :after
 ORDER BY l.account_id
 LIMIT :limit
