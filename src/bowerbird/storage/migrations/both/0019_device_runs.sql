-- compatible: yes
-- The page for keys shows the last run of each device.
CREATE INDEX ingest_run_by_device ON ingest_run (account_id, device_id, started_at, run_id);
