-- name: latest
SELECT p.post_id, p.field, max(p.version)
  FROM bulk_post AS p
 WHERE p.account_id = :account_id
   AND p.post_id = ANY(CAST(:post_ids AS text[]))
 GROUP BY p.post_id, p.field

-- name: recorded
SELECT p.post_id
  FROM bulk_post AS p
 WHERE p.account_id = :account_id
   AND p.change = :change
   AND p.field = :field
   AND p.post_id = ANY(CAST(:post_ids AS text[]))

-- name: record_posts
-- One field of many posts. None of them was in the trash.
INSERT INTO bulk_post (account_id, change, post_id, field, was_set, version)
SELECT l.account_id, CAST(:change AS bigint), changed.post_id, CAST(:field AS bigint),
       CAST(:was_set AS boolean), CAST(:version AS bigint)
  FROM library AS l
  CROSS JOIN unnest(CAST(:post_ids AS text[])) AS changed (post_id)
 WHERE l.account_id = :account_id

-- name: forget
-- A row of a change, and the rows of the same field before it.
DELETE FROM bulk_post
 WHERE account_id = :account_id
   AND post_id = :post_id
   AND field = :field
   AND version <= :version
   AND (change = :number OR version < :version)

-- name: take_over_field
DELETE FROM bulk_post
 WHERE account_id = :account_id
   AND post_id = :post_id
   AND field = :field

-- name: take_over_post
DELETE FROM bulk_post
 WHERE account_id = :account_id
   AND post_id = :post_id
