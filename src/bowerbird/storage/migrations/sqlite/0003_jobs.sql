-- compatible: yes
-- Work that outlives a request. `due_at` is when a job may be claimed: at once, after a pause
-- between tries, or when the lease of the worker that has it runs out.
CREATE TABLE job (
    account_id   INTEGER NOT NULL,
    job_id       TEXT    NOT NULL,
    kind         TEXT    NOT NULL,
    unique_text  TEXT,
    parameters   BLOB    NOT NULL,
    priority     INTEGER NOT NULL,
    state        TEXT    NOT NULL,
    tries        INTEGER NOT NULL,
    -- Raised whenever a job changes hands; whoever holds an older number has lost it.
    fence        INTEGER NOT NULL,
    due_at       INTEGER NOT NULL,
    done         INTEGER NOT NULL,
    total        INTEGER NOT NULL,
    result       BLOB,
    error        TEXT,
    created_at   INTEGER NOT NULL,
    started_at   INTEGER,
    completed_at INTEGER,
    -- Until when the result's file is kept, where there is one.
    expires_at   INTEGER,
    PRIMARY KEY (account_id, job_id)
) STRICT;

CREATE INDEX job_unfinished ON job (account_id, priority, due_at, kind) WHERE completed_at IS NULL;
CREATE UNIQUE INDEX job_unique ON job (account_id, kind, unique_text) WHERE completed_at IS NULL;
CREATE INDEX job_by_start ON job (account_id, started_at);
CREATE INDEX job_by_end ON job (account_id, completed_at);
CREATE INDEX job_by_expiry ON job (account_id, expires_at) WHERE expires_at IS NOT NULL;
