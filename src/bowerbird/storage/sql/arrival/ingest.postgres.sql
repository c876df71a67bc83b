-- name: remove_posts
UPDATE source_post
   SET removed_at = :at, changed_at = :at
 WHERE account_id = :account_id
   AND source = :source
   AND source_user_id = :source_user_id
   AND post_id = ANY(CAST(:post_ids AS text[]))
   AND removed_at IS NULL
   AND seen_run <> :run_id

-- name: last_changes
SELECT s.post_id, max(s.changed_at)
  FROM source_post AS s
 WHERE s.account_id = :account_id
   AND s.post_id = ANY(CAST(:post_ids AS text[]))
 GROUP BY s.post_id

-- name: changes
SELECT s.post_id, s.changed_at, s.seen_run
  FROM source_post AS s
 WHERE s.account_id = :account_id
   AND s.source = :source
   AND s.source_user_id = :source_user_id
   AND s.post_id = ANY(CAST(:post_ids AS text[]))

-- name: shown_posts
-- The source shows these posts, which it did not at some time before.
UPDATE source_post
   SET gone_at = NULL, gone_reason = ''
 WHERE account_id = :account_id
   AND post_id = ANY(CAST(:post_ids AS text[]))
   AND gone_at <= :at

-- name: hidden
SELECT s.post_id, s.gone_at, s.gone_reason, s.sort_index
  FROM source_post AS s
 WHERE s.account_id = :account_id
   AND s.post_id = ANY(CAST(:post_ids AS text[]))
   AND s.gone_at IS NOT NULL
 ORDER BY s.gone_at, s.source_user_id

-- name: other_lists
SELECT s.post_id, s.source, s.source_user_id, s.removed_at
  FROM source_post AS s
 WHERE s.account_id = :account_id
   AND s.post_id = ANY(CAST(:post_ids AS text[]))
   AND (s.source <> :source OR s.source_user_id <> :source_user_id)

-- name: removed
SELECT s.post_id, s.removed_at
  FROM source_post AS s
 WHERE s.account_id = :account_id
   AND s.source = :source
   AND s.source_user_id = :source_user_id
   AND s.post_id = ANY(CAST(:post_ids AS text[]))
   AND s.removed_at IS NOT NULL

-- name: started_after
-- Those of these runs that started after another one.
SELECT r.run_id
  FROM ingest_run AS r
 WHERE r.account_id = :account_id
   AND r.run_id = ANY(CAST(:run_ids AS text[]))
   AND (r.started_at, r.run_id) > (:started_at, :run_id)
