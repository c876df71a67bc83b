-- name: has_old_proofs
SELECT EXISTS (SELECT 1 FROM one_time_link AS k WHERE k.expires_at < :now),
       EXISTS (SELECT 1 FROM spent_attempt AS a WHERE a.expires_at < :now)

-- name: next_accounts
-- A page of accounts, and whether each has expired responses, deleted bookmarks, logs of imports,
-- imports that have stopped, rows of devices, sessions, entries of the activity log, changes, or
-- events.
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
                  AND r.undo_until < :logs_before),
       EXISTS (SELECT 1
                 FROM import_run AS r
                WHERE r.account_id = l.account_id
                  AND r.state = 'running'
                  AND r.started_at < :stopped_before
                  AND r.undo_until - :undo_kept < :stopped_before),
       EXISTS (SELECT 1
                 FROM ingest_page AS p
                WHERE p.account_id = l.account_id
                  AND p.created_at < :pages_before
                  AND NOT EXISTS (SELECT 1
                                    FROM ingest_run AS r
                                   WHERE r.account_id = p.account_id
                                     AND r.run_id = p.run_id
                                     AND r.state <> 'finished'
                                     AND r.updated_at >= :pages_before)
                  AND NOT EXISTS (SELECT 1
                                    FROM source_connection AS c
                                   WHERE c.account_id = p.account_id
                                     AND c.run_id = p.run_id))
           OR EXISTS (SELECT 1
                        FROM kept_page AS k
                       WHERE k.account_id = l.account_id
                         AND k.created_at < :kept_before)
           OR EXISTS (SELECT 1
                        FROM file_import AS f
                       WHERE f.account_id = l.account_id
                         AND f.created_at < :pages_before)
           OR EXISTS (SELECT 1
                        FROM ingest_run AS r
                       WHERE r.account_id = l.account_id
                         AND r.started_at < :runs_before
                         AND r.updated_at < :runs_before
                         AND NOT EXISTS (SELECT 1
                                           FROM source_connection AS c
                                          WHERE c.account_id = r.account_id
                                            AND c.run_id = r.run_id)),
       EXISTS (SELECT 1
                 FROM web_session AS s
                WHERE s.account_id = l.account_id
                  AND (s.last_used_at <= :sessions_used_after
                       OR s.created_at <= :sessions_created_after)),
       EXISTS (SELECT 1
                 FROM activity AS a
                WHERE a.account_id = l.account_id
                  AND a.at < :activity_before)
           OR (SELECT count(*)
                 FROM activity AS a
                WHERE a.account_id = l.account_id) > :activity_most,
       EXISTS (SELECT 1
                 FROM bulk_change AS c
                WHERE c.account_id = l.account_id
                  AND c.undo_until < :logs_before
                  AND (c.finished_at IS NOT NULL OR c.created_at < :stopped_before)),
       EXISTS (SELECT 1
                 FROM library_event AS e
                WHERE e.account_id = l.account_id
                  AND e.last <= l.events - :events_kept)
           OR coalesce((SELECT e.at
                          FROM library_event AS e
                         WHERE e.account_id = l.account_id
                         ORDER BY e.last
                         LIMIT 1), :events_before) < :events_before
  FROM library AS l
 WHERE l.account_id > :after
 ORDER BY l.account_id
 LIMIT :limit
