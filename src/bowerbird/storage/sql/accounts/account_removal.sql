-- name: count
SELECT count(*)
  FROM bookmark AS b
 WHERE b.account_id = :account_id

-- name: losses
SELECT (SELECT count(*) FROM label AS l WHERE l.account_id = :account_id),
       (SELECT count(*) FROM smart_view AS v WHERE v.account_id = :account_id),
       (SELECT count(*) FROM api_key AS k
         WHERE k.account_id = :account_id AND k.revoked_at IS NULL)

-- name: delete_keys
DELETE FROM api_key
 WHERE account_id = :account_id

-- name: release_ownership
UPDATE person
   SET is_owner = FALSE
 WHERE account_id = :account_id
   AND is_owner

-- name: delete_shares
DELETE FROM share
 WHERE account_id = :account_id

-- name: delete_calls
DELETE FROM api_call
 WHERE account_id = :account_id

-- name: delete_daily_uses
DELETE FROM daily_use
 WHERE account_id = :account_id

-- name: delete_version_uses
DELETE FROM version_use
 WHERE account_id = :account_id

-- name: delete_sunset_notices
DELETE FROM sunset_notice
 WHERE account_id = :account_id

-- name: delete_library
DELETE FROM library
 WHERE account_id = :account_id

-- name: first_bookmarks
SELECT b.number
  FROM bookmark AS b
 WHERE b.account_id = :account_id
 ORDER BY b.number
 LIMIT :limit

-- name: delete_attachments
DELETE FROM bookmark_label
 WHERE account_id = :account_id
   AND number <= :last

-- name: delete_bookmarks
DELETE FROM bookmark
 WHERE account_id = :account_id
   AND number <= :last

-- name: delete_jobs
DELETE FROM job
 WHERE account_id = :account_id

-- name: delete_trash
DELETE FROM trash
 WHERE account_id = :account_id

-- name: delete_answers
DELETE FROM idempotency
 WHERE account_id = :account_id

-- name: delete_digests
DELETE FROM digest
 WHERE account_id = :account_id

-- name: delete_digest_preference
DELETE FROM digest_preference
 WHERE account_id = :account_id

-- name: delete_views
DELETE FROM smart_view
 WHERE account_id = :account_id

-- name: delete_deleted_views
DELETE FROM deleted_view
 WHERE account_id = :account_id

-- name: delete_rules
DELETE FROM rule
 WHERE account_id = :account_id

-- name: delete_rule_state
DELETE FROM rule_state
 WHERE account_id = :account_id

-- name: delete_rule_log
DELETE FROM rule_log
 WHERE account_id = :account_id

-- name: delete_labels
DELETE FROM label
 WHERE account_id = :account_id

-- name: delete_person
DELETE FROM person
 WHERE account_id = :account_id

-- name: delete_vectors
DELETE FROM vector
 WHERE account_id = :account_id
   AND number <= :last

-- name: delete_vector_parts
DELETE FROM vector_part
 WHERE account_id = :account_id

-- name: delete_vector_stores
DELETE FROM vector_store
 WHERE account_id = :account_id

-- name: delete_devices
DELETE FROM device
 WHERE account_id = :account_id

-- name: delete_connections
DELETE FROM source_connection
 WHERE account_id = :account_id

-- name: delete_ingest_runs
DELETE FROM ingest_run
 WHERE account_id = :account_id

-- name: delete_kept_pages
DELETE FROM kept_page
 WHERE account_id = :account_id

-- name: delete_source_posts
DELETE FROM source_post
 WHERE account_id = :account_id

-- name: delete_source_folders
DELETE FROM source_folder
 WHERE account_id = :account_id

-- name: delete_file_imports
DELETE FROM file_import
 WHERE account_id = :account_id

-- name: delete_pages
DELETE FROM ingest_page
 WHERE account_id = :account_id

-- name: delete_deletions
DELETE FROM deletion
 WHERE account_id = :account_id

-- name: delete_runs
DELETE FROM import_run
 WHERE account_id = :account_id

-- name: delete_changes
DELETE FROM import_change
 WHERE account_id = :account_id

-- name: delete_created_labels
DELETE FROM import_label
 WHERE account_id = :account_id

-- name: delete_sessions
DELETE FROM web_session
 WHERE account_id = :account_id

-- name: delete_passkeys
DELETE FROM passkey
 WHERE account_id = :account_id

-- name: delete_identities
DELETE FROM provider_identity
 WHERE account_id = :account_id

-- name: delete_links
DELETE FROM one_time_link
 WHERE account_id = :account_id

-- name: delete_activity
DELETE FROM activity
 WHERE account_id = :account_id

-- name: delete_replaced
DELETE FROM replaced_annotation
 WHERE account_id = :account_id

-- name: delete_unindexed
DELETE FROM unindexed_note
 WHERE account_id = :account_id

-- name: delete_word_counts
DELETE FROM word_count
 WHERE account_id = :account_id

-- name: delete_word_changes
DELETE FROM word_change
 WHERE account_id = :account_id

-- name: delete_bulk_changes
DELETE FROM bulk_change
 WHERE account_id = :account_id

-- name: delete_bulk_parts
DELETE FROM bulk_part
 WHERE account_id = :account_id

-- name: delete_bulk_posts
DELETE FROM bulk_post
 WHERE account_id = :account_id

-- name: delete_media_account
DELETE FROM media_account
 WHERE account_id = :account_id

-- name: delete_bare_links
DELETE FROM bare_link
 WHERE account_id = :account_id

-- name: delete_webhooks
DELETE FROM webhook
 WHERE account_id = :account_id

-- name: delete_deliveries
DELETE FROM webhook_delivery
 WHERE account_id = :account_id

-- name: delete_events
DELETE FROM library_event
 WHERE account_id = :account_id

-- name: delete_media_links
DELETE FROM media_link
 WHERE account_id = :account_id

-- name: delete_media_posts
DELETE FROM media_post
 WHERE account_id = :account_id

-- name: delete_media_sources
DELETE FROM media_source
 WHERE account_id = :account_id

-- name: delete_media_files
DELETE FROM media_file
 WHERE account_id = :account_id
