-- Distributes a migrated library over the nodes of a Citus cluster (Citus 12 or newer).
-- Run it once after the first `bowerbird migrate`, and again after every later one:
--
--     psql "$BOWERBIRD_DATABASE_URL" --set ON_ERROR_STOP=1 --file deploy/citus.sql
--
-- It changes nothing that is distributed already. The number of shards is chosen by the first run;
-- PGOPTIONS="-c bowerbird.shards=64" sets another one than 32. docs/scaling.md explains the
-- whole setup.

DO $$
DECLARE
    name text;
    shards int := coalesce(nullif(current_setting('bowerbird.shards', true), ''), '32');
BEGIN
    -- All rows of an account are on one node, because all tables are distributed like this one.
    IF NOT EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = 'library'::regclass) THEN
        PERFORM create_distributed_table('library', 'account_id', shard_count => shards);
    END IF;

    FOREACH name IN ARRAY ARRAY[
            'abbreviation', 'activity', 'api_call', 'api_key', 'bare_link', 'bookmark', 'bookmark_label', 'bulk_change',
            'bulk_part', 'bulk_post', 'content', 'daily_use', 'deleted_view', 'deletion',
            'device', 'digest', 'digest_preference', 'file_import', 'idempotency',
            'import_change', 'import_label', 'import_run', 'ingest_page', 'ingest_run', 'job',
            'kept_page', 'keyword', 'label', 'library_event', 'media_account', 'media_file', 'media_link',
            'media_post', 'media_source', 'passkey', 'replaced_annotation', 'rule', 'rule_log', 'rule_state', 'smart_view',
            'source_connection', 'source_folder', 'source_post', 'sunset_notice', 'trash',
            'unindexed_note', 'vector', 'vector_part', 'vector_store', 'version_use', 'web_session', 'webhook', 'webhook_delivery',
            'word_change', 'word_count'
    ] LOOP
        IF NOT EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = name::regclass) THEN
            PERFORM create_distributed_table(name, 'account_id', colocate_with => 'library');
        END IF;
    END LOOP;

    -- These are read before the account is known, and are unique for all accounts. They stay on
    -- the coordinator, and other tables may be joined with them.
    FOREACH name IN ARRAY ARRAY[
            'host_turn', 'one_time_link', 'person', 'provider_identity', 'schema_migration',
            'secret', 'share', 'spent_attempt'
    ] LOOP
        IF NOT EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = name::regclass) THEN
            PERFORM citus_add_local_table_to_metadata(name);
        END IF;
    END LOOP;

    -- Otherwise Citus looks at every table of the catalogue when a connection first asks for the
    -- type of an array, which takes seconds: searches are then answered with 503.
    EXECUTE format('ALTER ROLE %I IN DATABASE %I SET citus.override_table_visibility = off',
                   current_user, current_database());
END
$$;
