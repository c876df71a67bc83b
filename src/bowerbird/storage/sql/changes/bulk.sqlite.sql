-- name: record_posts
-- One field of many posts. None of them was in the trash.
INSERT INTO bulk_post (account_id, change, post_id, field, was_set, version)
SELECT :account_id, :change, changed.value, :field, :was_set, :version
  FROM json_each(:post_ids) AS changed

-- name: has_any
-- The lock of the library has told already.
