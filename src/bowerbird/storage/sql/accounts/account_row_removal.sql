-- Removes some rows of each large table of an account.

-- name: some_trash
DELETE FROM trash
 WHERE account_id = :account_id
   AND post_id IN (SELECT t.post_id
                     FROM trash AS t
                    WHERE t.account_id = :account_id
                    ORDER BY t.post_id
                    LIMIT :limit)
RETURNING post_id

-- name: some_answers
DELETE FROM idempotency
 WHERE account_id = :account_id
   AND idempotency_key IN (SELECT i.idempotency_key
                             FROM idempotency AS i
                            WHERE i.account_id = :account_id
                            ORDER BY i.idempotency_key
                            LIMIT :limit)
RETURNING idempotency_key

-- name: some_digests
DELETE FROM digest
 WHERE account_id = :account_id
   AND (kind, first_day) IN (SELECT d.kind, d.first_day
                               FROM digest AS d
                              WHERE d.account_id = :account_id
                              ORDER BY d.kind, d.first_day
                              LIMIT :limit)
RETURNING first_day

-- name: some_jobs
DELETE FROM job
 WHERE account_id = :account_id
   AND job_id IN (SELECT j.job_id
                    FROM job AS j
                   WHERE j.account_id = :account_id
                   ORDER BY j.job_id
                   LIMIT :limit)
RETURNING job_id

-- name: some_labels
DELETE FROM label
 WHERE account_id = :account_id
   AND label_id IN (SELECT l.label_id
                      FROM label AS l
                     WHERE l.account_id = :account_id
                     ORDER BY l.label_id
                     LIMIT :limit)
RETURNING label_id

-- name: some_ingest_runs
DELETE FROM ingest_run
 WHERE account_id = :account_id
   AND run_id IN (SELECT i.run_id
                   FROM ingest_run AS i
                  WHERE i.account_id = :account_id
                  ORDER BY i.run_id
                  LIMIT :limit)
RETURNING run_id

-- name: some_kept_pages
DELETE FROM kept_page
 WHERE account_id = :account_id
   AND kept_id IN (SELECT k.kept_id
                   FROM kept_page AS k
                  WHERE k.account_id = :account_id
                  ORDER BY k.kept_id
                  LIMIT :limit)
RETURNING kept_id

-- name: some_source_posts
DELETE FROM source_post
 WHERE account_id = :account_id
   AND (source, source_user_id, post_id) IN (SELECT s.source, s.source_user_id, s.post_id
                                               FROM source_post AS s
                                              WHERE s.account_id = :account_id
                                              ORDER BY s.source, s.source_user_id, s.post_id
                                              LIMIT :limit)
RETURNING post_id

-- name: some_source_folders
DELETE FROM source_folder
 WHERE account_id = :account_id
   AND folder_id IN (SELECT s.folder_id
                   FROM source_folder AS s
                  WHERE s.account_id = :account_id
                  ORDER BY s.folder_id
                  LIMIT :limit)
RETURNING folder_id

-- name: some_file_imports
DELETE FROM file_import
 WHERE account_id = :account_id
   AND job_id IN (SELECT f.job_id
                   FROM file_import AS f
                  WHERE f.account_id = :account_id
                  ORDER BY f.job_id
                  LIMIT :limit)
RETURNING job_id

-- name: some_pages
DELETE FROM ingest_page
 WHERE account_id = :account_id
   AND (run_id, seq) IN (SELECT p.run_id, p.seq
                           FROM ingest_page AS p
                          WHERE p.account_id = :account_id
                          ORDER BY p.run_id, p.seq
                          LIMIT :limit)
RETURNING seq

-- name: some_deletions
DELETE FROM deletion
 WHERE account_id = :account_id
   AND post_id IN (SELECT x.post_id
                      FROM deletion AS x
                     WHERE x.account_id = :account_id
                     ORDER BY x.post_id
                     LIMIT :limit)
RETURNING post_id

-- name: some_runs
DELETE FROM import_run
 WHERE account_id = :account_id
   AND number IN (SELECT x.number
                     FROM import_run AS x
                    WHERE x.account_id = :account_id
                    ORDER BY x.number
                    LIMIT :limit)
RETURNING number

-- name: some_changes
DELETE FROM import_change
 WHERE account_id = :account_id
   AND (run, number) IN (SELECT x.run, x.number
                            FROM import_change AS x
                           WHERE x.account_id = :account_id
                           ORDER BY x.run, x.number
                           LIMIT :limit)
RETURNING run

-- name: some_created_labels
DELETE FROM import_label
 WHERE account_id = :account_id
   AND (run, label_id) IN (SELECT x.run, x.label_id
                              FROM import_label AS x
                             WHERE x.account_id = :account_id
                             ORDER BY x.run, x.label_id
                             LIMIT :limit)
RETURNING run

-- name: some_replaced
DELETE FROM replaced_annotation
 WHERE account_id = :account_id
   AND (post_id, annotation_id) IN (SELECT x.post_id, x.annotation_id
                                      FROM replaced_annotation AS x
                                     WHERE x.account_id = :account_id
                                     ORDER BY x.post_id, x.annotation_id
                                     LIMIT :limit)
RETURNING post_id

-- name: some_unindexed
DELETE FROM unindexed_note
 WHERE account_id = :account_id
   AND number IN (SELECT x.number
                    FROM unindexed_note AS x
                   WHERE x.account_id = :account_id
                   ORDER BY x.number
                   LIMIT :limit)
RETURNING number

-- name: some_word_counts
-- Many and short.
DELETE FROM word_count
 WHERE account_id = :account_id
   AND word IN (SELECT x.word
                  FROM word_count AS x
                 WHERE x.account_id = :account_id
                 ORDER BY x.word
                 LIMIT 20 * :limit)
RETURNING word

-- name: some_vector_parts
-- Few and large.
DELETE FROM vector_part
 WHERE account_id = :account_id
   AND number IN (SELECT x.number
                    FROM vector_part AS x
                   WHERE x.account_id = :account_id
                   ORDER BY x.number
                   LIMIT 1 + :limit / 50)
RETURNING number

-- name: some_word_changes
DELETE FROM word_change
 WHERE account_id = :account_id
   AND number IN (SELECT x.number
                    FROM word_change AS x
                   WHERE x.account_id = :account_id
                   ORDER BY x.number
                   LIMIT :limit)
RETURNING number

-- name: some_bulk_changes
DELETE FROM bulk_change
 WHERE account_id = :account_id
   AND number IN (SELECT x.number
                    FROM bulk_change AS x
                   WHERE x.account_id = :account_id
                   ORDER BY x.number
                   LIMIT :limit)
RETURNING number

-- name: some_bulk_parts
DELETE FROM bulk_part
 WHERE account_id = :account_id
   AND (change, part) IN (SELECT x.change, x.part
                            FROM bulk_part AS x
                           WHERE x.account_id = :account_id
                           ORDER BY x.change, x.part
                           LIMIT :limit)
RETURNING part

-- name: some_bulk_posts
DELETE FROM bulk_post
 WHERE account_id = :account_id
   AND (change, post_id, field) IN (SELECT x.change, x.post_id, x.field
                                      FROM bulk_post AS x
                                     WHERE x.account_id = :account_id
                                     ORDER BY x.change, x.post_id, x.field
                                     LIMIT :limit)
RETURNING post_id

-- name: some_bare_links
DELETE FROM bare_link
 WHERE account_id = :account_id
   AND post_id IN (SELECT x.post_id
                     FROM bare_link AS x
                    WHERE x.account_id = :account_id
                    ORDER BY x.post_id
                    LIMIT :limit)
RETURNING post_id

-- name: some_events
DELETE FROM library_event
 WHERE account_id = :account_id
   AND last IN (SELECT x.last
                  FROM library_event AS x
                 WHERE x.account_id = :account_id
                 ORDER BY x.last
                 LIMIT :limit)
RETURNING last

-- name: some_deliveries
DELETE FROM webhook_delivery
 WHERE account_id = :account_id
   AND (webhook_id, message_id) IN (SELECT x.webhook_id, x.message_id
                                      FROM webhook_delivery AS x
                                     WHERE x.account_id = :account_id
                                     ORDER BY x.webhook_id, x.message_id
                                     LIMIT :limit)
RETURNING message_id

-- name: some_media_links
DELETE FROM media_link
 WHERE account_id = :account_id
   AND (post_id, url_key) IN (SELECT x.post_id, x.url_key
                                FROM media_link AS x
                               WHERE x.account_id = :account_id
                               ORDER BY x.post_id, x.url_key
                               LIMIT :limit)
RETURNING post_id

-- name: some_media_posts
DELETE FROM media_post
 WHERE account_id = :account_id
   AND post_id IN (SELECT x.post_id
                     FROM media_post AS x
                    WHERE x.account_id = :account_id
                    ORDER BY x.post_id
                    LIMIT :limit)
RETURNING post_id

-- name: some_media_sources
DELETE FROM media_source
 WHERE account_id = :account_id
   AND url_key IN (SELECT x.url_key
                     FROM media_source AS x
                    WHERE x.account_id = :account_id
                    ORDER BY x.url_key
                    LIMIT :limit)
RETURNING url_key

-- name: some_media_files
DELETE FROM media_file
 WHERE account_id = :account_id
   AND media_id IN (SELECT x.media_id
                      FROM media_file AS x
                     WHERE x.account_id = :account_id
                     ORDER BY x.media_id
                     LIMIT :limit)
RETURNING media_id
