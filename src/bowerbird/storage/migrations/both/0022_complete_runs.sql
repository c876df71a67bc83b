-- compatible: yes
-- A run stops where the last complete run over the same list has been.
CREATE INDEX ingest_run_complete
    ON ingest_run (account_id, source, source_user_id, started_at, run_id)
 WHERE is_complete;
