-- name: has_any
SELECT 1
  FROM bulk_change AS c
 WHERE c.account_id = :account_id
 LIMIT 1

-- name: next_number
SELECT coalesce(max(c.number), 0) + 1
  FROM bulk_change AS c
 WHERE c.account_id = :account_id

-- name: next_position
SELECT coalesce(max(c.position), 0) + 1
  FROM bulk_change AS c
 WHERE c.account_id = :account_id
   AND c.finished_at IS NULL

-- name: first_open
-- The change or undo that is next, without those whose job has failed: nobody works on them.
SELECT c.number, c.change_id, c.action, c.label, c.state, c.matched, c.done, c.changed, c.restored,
       c.kept, c.created_at, c.finished_at, c.undo_until, c.job_id, c.position, c.made_by
  FROM bulk_change AS c
  JOIN job AS j ON j.account_id = c.account_id AND j.job_id = c.job_id
 WHERE c.account_id = :account_id
   AND j.account_id = :account_id
   AND c.finished_at IS NULL
   AND j.completed_at IS NULL
   AND c.number <> :besides
 ORDER BY c.position, c.number
 LIMIT 1

-- name: ending_labels
-- The labels that a change is about to delete, alone or after merging them.
SELECT c.number, c.label
  FROM bulk_change AS c
  JOIN job AS j ON j.account_id = c.account_id AND j.job_id = c.job_id
 WHERE c.account_id = :account_id
   AND j.account_id = :account_id
   AND c.finished_at IS NULL
   AND c.action IN ('delete_label', 'merge_labels')
   AND c.state = 'working'
   AND j.completed_at IS NULL
 ORDER BY c.position, c.number

-- name: unfinished
-- Without those whose job has failed: nobody works on them.
SELECT c.number
  FROM bulk_change AS c
  JOIN job AS j ON j.account_id = c.account_id AND j.job_id = c.job_id
 WHERE c.account_id = :account_id
   AND j.account_id = :account_id
   AND c.finished_at IS NULL
   AND j.completed_at IS NULL
 ORDER BY c.position, c.number

-- name: expired
SELECT c.number
  FROM bulk_change AS c
 WHERE c.account_id = :account_id
   AND c.undo_until < :now
   AND (c.finished_at IS NOT NULL OR c.created_at < :stopped_before)
 ORDER BY c.number
 LIMIT :limit

-- name: insert
INSERT INTO bulk_change (account_id, number, change_id, action, label, state, matched, done,
                         changed, restored, kept, created_at, finished_at, undo_until, job_id,
                         position, made_by)
VALUES (:account_id, :number, :change_id, :action, :label, :state, :matched, :done,
        :changed, :restored, :kept, :created_at, :finished_at, :undo_until, :job_id,
        :position, :made_by)

-- name: by_id
SELECT c.number, c.change_id, c.action, c.label, c.state, c.matched, c.done, c.changed, c.restored,
       c.kept, c.created_at, c.finished_at, c.undo_until, c.job_id, c.position, c.made_by
  FROM bulk_change AS c
 WHERE c.account_id = :account_id
   AND c.change_id = :change_id

-- name: recent
-- The changes that can still be undone, and those that are not finished.
SELECT c.number, c.change_id, c.action, c.label, c.state, c.matched, c.done, c.changed, c.restored,
       c.kept, c.created_at, c.finished_at, c.undo_until, c.job_id, c.position, c.made_by
  FROM bulk_change AS c
 WHERE c.account_id = :account_id
   AND c.number < :before
   AND :action IN ('', c.action)
   AND (c.undo_until >= :now OR c.finished_at IS NULL)
 ORDER BY c.number DESC
 LIMIT :limit

-- name: count_recent
SELECT count(*)
  FROM bulk_change AS c
 WHERE c.account_id = :account_id
   AND (c.undo_until >= :now OR c.finished_at IS NULL)

-- name: update
UPDATE bulk_change
   SET label = :label, state = :state, done = :done, changed = :changed, restored = :restored,
       kept = :kept, finished_at = :finished_at, undo_until = :undo_until, job_id = :job_id,
       position = :position
 WHERE account_id = :account_id
   AND number = :number

-- name: set_label
UPDATE bulk_change
   SET label = :label
 WHERE account_id = :account_id
   AND number = :number

-- name: kept
SELECT c.number, c.kept, c.undo_until, c.finished_at IS NOT NULL
  FROM bulk_change AS c
 WHERE c.account_id = :account_id
 ORDER BY c.number

-- name: delete_up_to
DELETE FROM bulk_change
 WHERE account_id = :account_id
   AND number <= :number

-- name: delete_posts_up_to
DELETE FROM bulk_post
 WHERE account_id = :account_id
   AND change <= :number

-- name: expire
UPDATE bulk_change
   SET undo_until = 0
 WHERE account_id = :account_id
   AND number = :number

-- name: lower_kept
UPDATE bulk_change
   SET kept = kept - :removed
 WHERE account_id = :account_id
   AND number = :number

-- name: delete
DELETE FROM bulk_change
 WHERE account_id = :account_id
   AND number = :number

-- name: add_part
INSERT INTO bulk_part (account_id, change, part, posts)
VALUES (:account_id, :change, :part, :posts)
    ON CONFLICT (account_id, change, part) DO UPDATE
   SET posts = excluded.posts

-- name: first_part
SELECT p.part, p.posts
  FROM bulk_part AS p
 WHERE p.account_id = :account_id
   AND p.change = :change
 ORDER BY p.part
 LIMIT 1

-- name: delete_part
DELETE FROM bulk_part
 WHERE account_id = :account_id
   AND change = :change
   AND part = :part

-- name: delete_parts
DELETE FROM bulk_part
 WHERE account_id = :account_id
   AND change = :change

-- name: record
INSERT INTO bulk_post (account_id, change, post_id, field, was_set, version, kept)
VALUES (:account_id, :change, :post_id, :field, :was_set, :version, :kept)
    ON CONFLICT (account_id, change, post_id, field) DO UPDATE
   SET was_set = excluded.was_set, version = excluded.version, kept = excluded.kept

-- name: first_posts
SELECT p.post_id, p.field, p.was_set, p.version, p.kept
  FROM bulk_post AS p
 WHERE p.account_id = :account_id
   AND p.change = :change
 ORDER BY p.post_id, p.field
 LIMIT :limit

-- name: delete_posts
DELETE FROM bulk_post
 WHERE account_id = :account_id
   AND change = :change
   AND post_id <= :last

-- name: latest
SELECT p.post_id, p.field, max(p.version)
  FROM bulk_post AS p INDEXED BY bulk_post_by_field
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

-- name: forget
-- A row of a change, and the rows of the same field before it.
DELETE FROM bulk_post INDEXED BY bulk_post_by_field
 WHERE account_id = :account_id
   AND post_id = :post_id
   AND field = :field
   AND version <= :version
   AND (change = :number OR version < :version)

-- name: take_over_field
DELETE FROM bulk_post INDEXED BY bulk_post_by_field
 WHERE account_id = :account_id
   AND post_id = :post_id
   AND field = :field

-- name: take_over_post
-- `spared`: a field whose rows stay.
DELETE FROM bulk_post INDEXED BY bulk_post_by_field
 WHERE account_id = :account_id
   AND post_id = :post_id
   AND field <> :spared

-- name: value_keys
-- The notes and highlights that changes have replaced.
SELECT DISTINCT p.post_id
  FROM bulk_post AS p INDEXED BY bulk_post_by_field
 WHERE p.account_id = :account_id
   AND p.post_id >= 'highlight:'
   AND p.post_id < 'note;'
