-- compatible: yes
-- Accounts at networks whose saved posts the service reads by itself.
CREATE TABLE source_connection (
    account_id     bigint  NOT NULL,
    connection_id  text    NOT NULL,
    network        text    NOT NULL,
    server         text    NOT NULL,
    -- The account at the network; '' before it is known.
    source_user_id text    NOT NULL,
    name           text    NOT NULL,
    -- unfinished, priced, active or paused
    state          text    NOT NULL,
    -- Why the last run failed, or ''.
    problem        text    NOT NULL,
    -- The encrypted tokens. The version grows whenever they change.
    sealed         bytea   NOT NULL,
    version        bigint  NOT NULL,
    interval_s     bigint  NOT NULL,
    -- The run that has not ended, or ''.
    run_id         text    NOT NULL,
    failures       bigint  NOT NULL,
    next_run_at    bigint  NOT NULL,
    last_run_at    bigint,
    -- Counts of the last run, and the number of new posts of all runs.
    new            bigint  NOT NULL,
    changed        bigint  NOT NULL,
    total          bigint  NOT NULL,
    -- Posts that may be read per day, and those that were read on a day.
    posts_per_day  bigint  NOT NULL,
    spent_day      bigint  NOT NULL,
    spent          bigint  NOT NULL,
    folders_day    bigint  NOT NULL,
    created_at     bigint  NOT NULL,
    PRIMARY KEY (account_id, connection_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX source_connection_due ON source_connection (account_id, next_run_at)
 WHERE state = 'active';
