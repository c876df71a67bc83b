-- compatible: yes
-- Accounts at networks whose saved posts the service reads by itself.
CREATE TABLE source_connection (
    account_id     INTEGER NOT NULL,
    connection_id  TEXT    NOT NULL,
    network        TEXT    NOT NULL,
    server         TEXT    NOT NULL,
    -- The account at the network; '' before it is known.
    source_user_id TEXT    NOT NULL,
    name           TEXT    NOT NULL,
    -- unfinished, priced, active or paused
    state          TEXT    NOT NULL,
    -- Why the last run failed, or ''.
    problem        TEXT    NOT NULL,
    -- The encrypted tokens. The version grows whenever they change.
    sealed         BLOB    NOT NULL,
    version        INTEGER NOT NULL,
    interval_s     INTEGER NOT NULL,
    -- The run that has not ended, or ''.
    run_id         TEXT    NOT NULL,
    failures       INTEGER NOT NULL,
    next_run_at    INTEGER NOT NULL,
    last_run_at    INTEGER,
    -- Counts of the last run, and the number of new posts of all runs.
    new            INTEGER NOT NULL,
    changed        INTEGER NOT NULL,
    total          INTEGER NOT NULL,
    -- Posts that may be read per day, and those that were read on a day.
    posts_per_day  INTEGER NOT NULL,
    spent_day      INTEGER NOT NULL,
    spent          INTEGER NOT NULL,
    folders_day    INTEGER NOT NULL,
    created_at     INTEGER NOT NULL,
    PRIMARY KEY (account_id, connection_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX source_connection_due ON source_connection (account_id, next_run_at)
 WHERE state = 'active';
