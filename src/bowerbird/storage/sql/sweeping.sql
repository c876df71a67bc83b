-- name: next_accounts
-- A page of accounts, and whether each has expired responses or expired deleted bookmarks.
SELECT l.account_id,
       EXISTS (SELECT 1
                 FROM idempotency AS i
                WHERE i.account_id = l.account_id
                  AND i.created_at < :answers_before),
       EXISTS (SELECT 1
                 FROM trash AS t
                WHERE t.account_id = l.account_id
                  AND t.trashed_at < :trash_before)
  FROM library AS l
 WHERE l.account_id > :after
 ORDER BY l.account_id
 LIMIT :limit
