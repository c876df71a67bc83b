-- name: record_posts
-- One field of many posts. None of them was in the trash.
INSERT INTO bulk_post (account_id, change, post_id, field, was_set, version)
SELECT l.account_id, CAST(:change AS bigint), changed.post_id, CAST(:field AS bigint),
       CAST(:was_set AS boolean), CAST(:version AS bigint)
  FROM library AS l
  CROSS JOIN unnest(CAST(:post_ids AS text[])) AS changed (post_id)
 WHERE l.account_id = :account_id

-- name: has_any
SELECT 1
  FROM bulk_change AS c
 WHERE c.account_id = :account_id
 LIMIT 1
