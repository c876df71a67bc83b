-- compatible: yes
-- The last day (days since 1970, UTC) on which an account's key called a version of the API.
CREATE TABLE version_use (
    account_id INTEGER NOT NULL,
    version    TEXT    NOT NULL,
    last_day   INTEGER NOT NULL,
    PRIMARY KEY (account_id, version)
) STRICT, WITHOUT ROWID;

-- Who was told that a version ends: 'sending' before the letter leaves, then 'sent' or 'refused'.
CREATE TABLE sunset_notice (
    account_id INTEGER NOT NULL,
    version    TEXT    NOT NULL,
    state      TEXT    NOT NULL,
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, version)
) STRICT, WITHOUT ROWID;
