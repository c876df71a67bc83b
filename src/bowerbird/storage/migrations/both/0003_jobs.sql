-- compatible: yes
-- Work that outlives a request. `due_at` is when a job may be claimed: at once, after a pause
-- between tries, or when the lease of the worker that has it runs out.
CREATE TABLE job (
    account_id   bigint NOT NULL,
    job_id       text    COLLATE "C" NOT NULL,
    kind         text    NOT NULL,
    unique_text  text    COLLATE "C",
    parameters   bytea   NOT NULL,
    priority     bigint NOT NULL,
    state        text    NOT NULL,
    tries        bigint NOT NULL,
    -- Raised whenever a job changes hands; whoever holds an older number has lost it.
    fence        bigint NOT NULL,
    due_at       bigint NOT NULL,
    done         bigint NOT NULL,
    total        bigint NOT NULL,
    result       bytea,
    error        text,
    created_at   bigint NOT NULL,
    started_at   bigint,
    completed_at bigint,
    -- Until when the result's file is kept, where there is one.
    expires_at   bigint,
    PRIMARY KEY (account_id, job_id)
) STRICT;

CREATE INDEX job_unfinished ON job (account_id, priority, due_at, kind) WHERE completed_at IS NULL;
CREATE UNIQUE INDEX job_unique ON job (account_id, kind, unique_text) WHERE completed_at IS NULL;
CREATE INDEX job_by_start ON job (account_id, started_at);
CREATE INDEX job_by_end ON job (account_id, completed_at);
CREATE INDEX job_by_expiry ON job (account_id, expires_at) WHERE expires_at IS NOT NULL;
