-- name: columns
r.number, r.run_id, r.source, r.kind, r.client, r.source_user_id, r.state, r.reason,
       r.started_at, r.finished_at, r.new_posts, r.changed_posts, r.unchanged_posts,
       r.ignored_posts, r.removed_posts, r.restored_posts, r.kept_posts, r.placed_posts,
       r.undo_until, r.log_bytes

-- name: next_number
SELECT coalesce(max(r.number), 0) + 1, count(*), coalesce(min(r.number), 0)
  FROM import_run AS r
 WHERE r.account_id = :account_id

-- name: insert_run
INSERT INTO import_run (account_id, number, run_id, source, kind, client, source_user_id, state,
                        reason, cursor, started_at, finished_at, new_posts, changed_posts,
                        unchanged_posts, ignored_posts, placed_posts, removed_posts,
                        restored_posts, kept_posts, undo_until, log_bytes)
VALUES (:account_id, :number, :run_id, :source, :kind, :client, :source_user_id, :state,
        '', '', :started_at, NULL, 0, 0, 0, 0, 0, 0, 0, 0, :undo_until, 0)

-- name: run
SELECT {columns}
  FROM import_run AS r
 WHERE r.account_id = :account_id
   AND r.run_id = :run_id

-- name: runs
SELECT {columns}
  FROM import_run AS r
 WHERE r.account_id = :account_id
   AND r.number < :before
 ORDER BY r.number DESC
 LIMIT :limit

-- name: count_runs
SELECT count(*)
  FROM import_run AS r
 WHERE r.account_id = :account_id

-- name: add_counts
UPDATE import_run
   SET new_posts = new_posts + :new,
       changed_posts = changed_posts + :changed,
       unchanged_posts = unchanged_posts + :unchanged,
       ignored_posts = ignored_posts + :ignored_deleted,
       placed_posts = placed_posts + :placed
 WHERE account_id = :account_id
   AND number = :number

-- name: add_log
UPDATE import_run
   SET log_bytes = log_bytes + :bytes, undo_until = :undo_until
 WHERE account_id = :account_id
   AND number = :number

-- name: grow_log
UPDATE import_run
   SET log_bytes = log_bytes + :bytes
 WHERE account_id = :account_id
   AND number = :number

-- name: give_up_log
UPDATE import_run
   SET undo_until = 0
 WHERE account_id = :account_id
   AND number = :number

-- name: log_sizes
SELECT r.number, r.log_bytes, r.undo_until
  FROM import_run AS r
 WHERE r.account_id = :account_id
   AND r.log_bytes > 0
 ORDER BY r.number

-- name: expired_run
SELECT r.number
  FROM import_run AS r
 WHERE r.account_id = :account_id
   AND r.log_bytes > 0
   AND r.undo_until < :now
 ORDER BY r.undo_until
 LIMIT 1

-- name: clear_log
UPDATE import_run
   SET log_bytes = 0
 WHERE account_id = :account_id
   AND number = :number

-- name: set_state
UPDATE import_run
   SET state = :state, reason = :reason, finished_at = :finished_at
 WHERE account_id = :account_id
   AND number = :number

-- name: interrupt_runs
-- A change of a post also moves undo_until, so it says when the run last changed one.
UPDATE import_run
   SET state = 'interrupted', reason = 'interrupted',
       finished_at = CASE WHEN undo_until - :kept > started_at THEN undo_until - :kept
                          ELSE started_at END
 WHERE account_id = :account_id
   AND number IN (SELECT r.number
                    FROM import_run AS r
                   WHERE r.account_id = :account_id
                     AND r.state = 'running'
                     AND r.started_at < :before
                     AND r.undo_until - :kept < :before
                   ORDER BY r.number
                   LIMIT :most)
RETURNING number

-- name: add_undone
UPDATE import_run
   SET removed_posts = removed_posts + :removed,
       restored_posts = restored_posts + :restored,
       kept_posts = kept_posts + :kept
 WHERE account_id = :account_id
   AND number = :number

-- name: delete_run
DELETE FROM import_run
 WHERE account_id = :account_id
   AND number = :number

-- name: insert_change
INSERT INTO import_change (account_id, run, number, change)
VALUES (:account_id, :run, :number, :change)
    ON CONFLICT (account_id, run, number) DO UPDATE
   SET change = excluded.change

-- name: changes_of_run
SELECT c.number, c.change
  FROM import_change AS c
 WHERE c.account_id = :account_id
   AND c.run = :run
 ORDER BY c.number
 LIMIT :limit

-- name: sizes_of_run
SELECT c.number, length(c.change)
  FROM import_change AS c
 WHERE c.account_id = :account_id
   AND c.run = :run
 ORDER BY c.number
 LIMIT :limit

-- name: delete_changes
DELETE FROM import_change
 WHERE account_id = :account_id
   AND run = :run
   AND number <= :last

-- name: insert_label
INSERT INTO import_label (account_id, run, label_id, name)
VALUES (:account_id, :run, :label_id, :name)
    ON CONFLICT (account_id, run, label_id) DO NOTHING

-- name: labels_of_run
SELECT n.label_id, n.name
  FROM import_label AS n
 WHERE n.account_id = :account_id
   AND n.run = :run
 ORDER BY n.label_id
 LIMIT :limit

-- name: delete_labels
DELETE FROM import_label
 WHERE account_id = :account_id
   AND run = :run
   AND label_id <= :last

-- name: later_run
-- The next run whose changes are still recorded.
SELECT r.number
  FROM import_run AS r
 WHERE r.account_id = :account_id
   AND r.number > :number
   AND r.log_bytes > 0
 ORDER BY r.number
 LIMIT 1

-- name: open_runs_of_kind
-- An account has at most 1,000 runs.
SELECT {columns}
  FROM import_run AS r
 WHERE r.account_id = :account_id
   AND r.kind = :kind
   AND r.state <> 'undone'
 ORDER BY r.number

-- name: changes_of_posts
SELECT c.number, c.run, c.change
  FROM import_change AS c INDEXED BY import_change_by_bookmark
 WHERE c.account_id = :account_id
   AND c.number = ANY(CAST(:numbers AS bigint[]))
   AND c.run > :after
   AND length(c.change) > 0
 ORDER BY c.number, c.run

-- name: forget_posts
-- An empty change: the post stays when the run is undone, and is counted.
UPDATE import_change INDEXED BY import_change_by_bookmark
   SET change = :nothing
 WHERE account_id = :account_id
   AND number = ANY(CAST(:numbers AS bigint[]))
   AND run < CAST(:before AS bigint)

-- name: posts
SELECT b.post_id, b.number, c.rendering, b.is_read, b.is_archived, b.content_hash, b.sort_index,
       b.imported_at, b.bookmarked_at, b.completeness, b.order_source
  FROM bookmark AS b
  JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
 WHERE b.account_id = :account_id
   AND b.number = ANY(CAST(:numbers AS bigint[]))

-- name: labels_of_posts
SELECT bl.number, bl.label_id
  FROM bookmark_label AS bl INDEXED BY bookmark_label_by_bookmark
 WHERE bl.account_id = :account_id
   AND bl.number = ANY(CAST(:numbers AS bigint[]))
 ORDER BY bl.number, bl.label_id
