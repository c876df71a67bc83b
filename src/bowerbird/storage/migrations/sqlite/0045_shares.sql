-- compatible: yes
-- The lists that accounts share, each at an address: a page with feeds, or a private feed alone.
-- An address is found before its account is known.
CREATE TABLE share (
    share_id   TEXT    NOT NULL PRIMARY KEY,
    account_id INTEGER NOT NULL,
    address    TEXT    NOT NULL,
    audience   TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    target     TEXT    NOT NULL,
    is_on      INTEGER NOT NULL,
    is_stopped INTEGER NOT NULL,
    ends_at    INTEGER NOT NULL,
    choices    TEXT    NOT NULL,
    revision   INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX share_address ON share (address);
CREATE INDEX share_by_account ON share (account_id, created_at);
CREATE INDEX share_by_time ON share (created_at, share_id);
