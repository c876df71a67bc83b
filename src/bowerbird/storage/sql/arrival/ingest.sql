-- name: columns
r.run_id, r.device_id, r.source, r.kind, r.source_user_id, r.client, r.import_id,
       r.state, r.reason, r.stop_below, r.candidates, r.removed, r.started_at, r.updated_at,
       r.is_complete, r.highest

-- name: insert_run
INSERT INTO ingest_run (account_id, run_id, device_id, source, kind, source_user_id, client,
                        import_id, state, reason, stop_below, candidates, removed, started_at,
                        updated_at, is_complete, highest)
SELECT l.account_id, CAST(:run_id AS text), CAST(:device_id AS text), CAST(:source AS text),
       CAST(:kind AS text), CAST(:source_user_id AS text), CAST(:client AS text), '', 'running', '',
       CAST(:stop_below AS bigint), 0, 0, CAST(:now AS bigint), CAST(:now AS bigint),
       CAST(:is_complete AS boolean), NULL
  FROM library AS l
 WHERE l.account_id = :account_id

-- name: run
SELECT {columns}
  FROM ingest_run AS r
 WHERE r.account_id = :account_id
   AND r.run_id = :run_id

-- name: latest_run
SELECT {columns}
  FROM ingest_run AS r
 WHERE r.account_id = :account_id
 ORDER BY r.started_at DESC, r.run_id DESC
 LIMIT 1

-- name: last_of_devices
-- Of devices that are not revoked. An extension also starts runs for single posts that somebody
-- opened; they say nothing about the list.
SELECT {columns}
  FROM device AS d
  JOIN ingest_run AS r ON r.account_id = d.account_id
   AND r.run_id = (SELECT i.run_id
                     FROM ingest_run AS i
                    WHERE i.account_id = d.account_id
                      AND i.device_id = d.device_id
                      AND (i.kind = 'full'
                           OR i.is_complete
                           OR EXISTS (SELECT 1
                                        FROM ingest_page AS p
                                       WHERE p.account_id = i.account_id
                                         AND p.run_id = i.run_id
                                         AND p.is_listed))
                    ORDER BY i.started_at DESC, i.run_id DESC
                    LIMIT 1)
 WHERE d.account_id = :account_id
   AND r.account_id = :account_id
   AND d.revoked_at IS NULL

-- name: held_runs
SELECT {columns}
  FROM ingest_run AS r
 WHERE r.account_id = :account_id
   AND r.started_at >= :since
   AND r.state = 'finished'
   AND r.candidates > r.removed
 ORDER BY r.started_at DESC, r.run_id DESC
 LIMIT :limit

-- name: resumable
-- The last run that has not ended, and has read a part of the list.
SELECT {columns}
  FROM ingest_run AS r
 WHERE r.account_id = :account_id
   AND r.source = :source
   AND r.source_user_id = :source_user_id
   AND r.started_at >= :after
   AND r.updated_at >= :since
   AND r.kind <> 'file'
   AND r.state <> 'finished'
   AND NOT r.is_complete
   AND EXISTS (SELECT 1
                 FROM ingest_page AS p
                WHERE p.account_id = r.account_id
                  AND p.run_id = r.run_id
                  AND p.is_listed
                  AND p.cursor_out <> '')
 ORDER BY r.started_at DESC, r.run_id DESC
 LIMIT 1

-- name: last_complete_run
SELECT {columns}
  FROM ingest_run AS r
 WHERE r.account_id = :account_id
   AND r.source = :source
   AND r.source_user_id = :source_user_id
   AND r.is_complete
 ORDER BY r.started_at DESC, r.run_id DESC
 LIMIT 1

-- name: last_complete
SELECT r.highest
  FROM ingest_run AS r
 WHERE r.account_id = :account_id
   AND r.source = :source
   AND r.source_user_id = :source_user_id
   AND r.is_complete
   AND r.highest IS NOT NULL
 ORDER BY r.started_at DESC, r.run_id DESC
 LIMIT 1

-- name: touch_run
UPDATE ingest_run
   SET state = 'running', updated_at = :now
 WHERE account_id = :account_id
   AND run_id = :run_id
   AND state <> 'finished'
RETURNING run_id

-- name: set_import
UPDATE ingest_run
   SET import_id = :import_id
 WHERE account_id = :account_id
   AND run_id = :run_id

-- name: end_run
UPDATE ingest_run
   SET state = :state, reason = :reason, candidates = :candidates, removed = :removed,
       updated_at = :now
 WHERE account_id = :account_id
   AND run_id = :run_id

-- name: complete_run
UPDATE ingest_run
   SET is_complete = :is_complete, highest = :highest
 WHERE account_id = :account_id
   AND run_id = :run_id

-- name: progress
-- The stored pages of a run: their number, the next one, and where the list goes on. A page without
-- an answer was being stored by an earlier release.
SELECT count(*), coalesce(max(p.seq) + 1, 0),
       coalesce((SELECT l.cursor_out
                   FROM ingest_page AS l
                  WHERE l.account_id = :account_id
                    AND l.run_id = :run_id
                    AND l.is_listed
                    AND l.cursor_out <> ''
                  ORDER BY l.seq DESC
                  LIMIT 1), '')
  FROM ingest_page AS p
 WHERE p.account_id = :account_id
   AND p.run_id = :run_id
   AND length(p.answer) > 0

-- name: page
SELECT p.fingerprint, p.answer
  FROM ingest_page AS p
 WHERE p.account_id = :account_id
   AND p.run_id = :run_id
   AND p.seq = :seq
   AND length(p.answer) > 0

-- name: insert_page
-- Returns no row if the page is stored already, or if the account has been deleted.
INSERT INTO ingest_page (account_id, run_id, seq, fingerprint, answer, is_listed, is_readable,
                         proves_end, is_caught_up, cursor_in, cursor_out, lowest, highest,
                         created_at)
SELECT l.account_id, CAST(:run_id AS text), CAST(:seq AS bigint), :fingerprint, :answer,
       :is_listed, :is_readable, :proves_end, :is_caught_up, CAST(:cursor_in AS text),
       CAST(:cursor_out AS text), CAST(:lowest AS bigint), CAST(:highest AS bigint), CAST(:now AS bigint)
  FROM library AS l
 WHERE l.account_id = :account_id
    ON CONFLICT (account_id, run_id, seq) DO NOTHING
RETURNING seq

-- name: links
-- How the pages of the list follow each other.
SELECT p.cursor_in, p.cursor_out, p.proves_end, p.is_readable, p.lowest, p.highest,
       p.is_caught_up
  FROM ingest_page AS p
 WHERE p.account_id = :account_id
   AND p.run_id = :run_id
   AND p.is_listed
 ORDER BY p.seq

-- name: see_post
INSERT INTO source_post (account_id, source, source_user_id, post_id, seen_run, changed_at,
                         removed_at)
SELECT l.account_id, CAST(:source AS text), CAST(:source_user_id AS text), CAST(:post_id AS text), CAST(:run_id AS text), CAST(:at AS bigint), NULL
  FROM library AS l
 WHERE l.account_id = :account_id
    ON CONFLICT (account_id, source, source_user_id, post_id) DO UPDATE
   SET seen_run = excluded.seen_run,
       removed_at = CASE WHEN excluded.changed_at >= source_post.changed_at THEN NULL
                         ELSE source_post.removed_at END,
       changed_at = CASE WHEN excluded.changed_at > source_post.changed_at THEN excluded.changed_at
                         ELSE source_post.changed_at END

-- name: change_post
-- What an event says about a post, unless something later is known.
INSERT INTO source_post (account_id, source, source_user_id, post_id, seen_run, changed_at,
                         removed_at)
SELECT l.account_id, CAST(:source AS text), CAST(:source_user_id AS text), CAST(:post_id AS text), '', CAST(:at AS bigint), CAST(:removed_at AS bigint)
  FROM library AS l
 WHERE l.account_id = :account_id
    ON CONFLICT (account_id, source, source_user_id, post_id) DO UPDATE
   SET changed_at = excluded.changed_at, removed_at = excluded.removed_at
 WHERE excluded.changed_at > source_post.changed_at

-- name: candidates
-- Posts that earlier runs saw in this part of the same list, and this run did not.
SELECT s.post_id
  FROM source_post AS s
  JOIN bookmark AS b ON b.account_id = s.account_id AND b.post_id = s.post_id
 WHERE s.account_id = :account_id
   AND s.source = :source
   AND s.source_user_id = :source_user_id
   AND s.removed_at IS NULL
   AND s.seen_run NOT IN ('', :run_id)
   AND s.changed_at < :before
   AND b.sort_index >= :lowest
   AND b.sort_index <= :highest
 ORDER BY s.post_id

-- name: posts_at
SELECT b.post_id
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND b.sort_index = :sort_index

-- name: put_folder
INSERT INTO source_folder (account_id, folder_id, name)
SELECT l.account_id, CAST(:folder_id AS text), CAST(:name AS text)
  FROM library AS l
 WHERE l.account_id = :account_id
    ON CONFLICT (account_id, folder_id) DO UPDATE SET name = excluded.name

-- name: count_folders
SELECT count(*)
  FROM source_folder AS f
 WHERE f.account_id = :account_id

-- name: folder
SELECT f.name
  FROM source_folder AS f
 WHERE f.account_id = :account_id
   AND f.folder_id = :folder_id

-- name: head
SELECT b.post_id, b.sort_index
  FROM bookmark AS b
 WHERE b.account_id = :account_id
 ORDER BY b.sort_index DESC, b.number DESC
 LIMIT :limit

-- name: old_pages
-- Not of a run that goes on: without its first pages, nothing proves that it has read the list.
DELETE FROM ingest_page
 WHERE account_id = :account_id
   AND (run_id, seq) IN (SELECT p.run_id, p.seq
                           FROM ingest_page AS p
                          WHERE p.account_id = :account_id
                            AND p.created_at < :before
                            AND NOT EXISTS (SELECT 1
                                              FROM ingest_run AS r
                                             WHERE r.account_id = p.account_id
                                               AND r.run_id = p.run_id
                                               AND r.state <> 'finished'
                                               AND r.updated_at >= :before)
                            AND NOT EXISTS (SELECT 1
                                              FROM source_connection AS c
                                             WHERE c.account_id = p.account_id
                                               AND c.run_id = p.run_id)
                          ORDER BY p.created_at
                          LIMIT :most)
RETURNING seq

-- name: old_runs
-- A run that took weeks is as old as its last page.
DELETE FROM ingest_run
 WHERE account_id = :account_id
   AND run_id IN (SELECT r.run_id
                    FROM ingest_run AS r
                   WHERE r.account_id = :account_id
                     AND r.started_at < :before
                     AND r.updated_at < :before
                     AND NOT EXISTS (SELECT 1
                                       FROM source_connection AS c
                                      WHERE c.account_id = r.account_id
                                        AND c.run_id = r.run_id)
                   ORDER BY r.started_at
                   LIMIT :most)
RETURNING run_id

-- name: gone_post
-- The source lists the post and does not show it. The first time that it did so stays.
UPDATE source_post
   SET gone_at = CASE WHEN gone_at <= :at THEN gone_at ELSE CAST(:at AS bigint) END,
       gone_reason = CAST(:reason AS text),
       sort_index = coalesce(CAST(:sort_index AS bigint), sort_index)
 WHERE account_id = :account_id
   AND source = :source
   AND source_user_id = :source_user_id
   AND post_id = :post_id
   AND changed_at <= :at

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
UPDATE source_post INDEXED BY source_post_by_id
   SET gone_at = NULL, gone_reason = ''
 WHERE account_id = :account_id
   AND post_id = ANY(CAST(:post_ids AS text[]))
   AND gone_at <= :at

-- name: hidden
SELECT s.post_id, s.gone_at, s.gone_reason, s.sort_index
  FROM source_post AS s INDEXED BY source_post_by_id
 WHERE s.account_id = :account_id
   AND s.post_id = ANY(CAST(:post_ids AS text[]))
   AND s.gone_at IS NOT NULL
 ORDER BY s.gone_at, s.source_user_id

-- name: other_lists
SELECT s.post_id, s.source, s.source_user_id, s.removed_at
  FROM source_post AS s INDEXED BY source_post_by_id
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
  FROM ingest_run AS r INDEXED BY sqlite_autoindex_ingest_run_1
 WHERE r.account_id = :account_id
   AND r.run_id = ANY(CAST(:run_ids AS text[]))
   AND (r.started_at, r.run_id) > (:started_at, :run_id)
