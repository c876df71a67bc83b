-- compatible: yes
-- The lists that accounts share, each at an address: a page with feeds, or a private feed alone.
-- An address is found before its account is known.
CREATE TABLE share (
    share_id   text    NOT NULL PRIMARY KEY,
    account_id bigint  NOT NULL,
    address    text    NOT NULL,
    audience   text    NOT NULL,
    kind       text    NOT NULL,
    target     text    NOT NULL,
    is_on      boolean NOT NULL,
    is_stopped boolean NOT NULL,
    ends_at    bigint  NOT NULL,
    choices    text    NOT NULL,
    revision   bigint  NOT NULL,
    created_at bigint  NOT NULL,
    updated_at bigint  NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX share_address ON share (address);
CREATE INDEX share_by_account ON share (account_id, created_at);
CREATE INDEX share_by_time ON share (created_at, share_id);
