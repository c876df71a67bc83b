-- compatible: yes
-- How much of a daily bound an account has used. One row per account and resource: the first use
-- on a new UTC day overwrites the row, so there is nothing to clean up.
CREATE TABLE daily_use (
    account_id INTEGER NOT NULL,
    resource   TEXT    NOT NULL,
    day        INTEGER NOT NULL,
    uses       INTEGER NOT NULL,
    bytes      INTEGER NOT NULL,
    PRIMARY KEY (account_id, resource)
) STRICT, WITHOUT ROWID;
