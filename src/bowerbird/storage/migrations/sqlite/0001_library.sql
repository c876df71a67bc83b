-- compatible: no
-- Control tables: who owns which account. They may live in a database of their own.
CREATE TABLE person (
    account_id INTEGER NOT NULL PRIMARY KEY,
    email      TEXT    NOT NULL,
    email_key  TEXT    NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE secret (
    name       TEXT    NOT NULL PRIMARY KEY,
    value      BLOB    NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- A small number for each account, never used twice. It stands in the high bits of `place`,
-- the integer key under which SQLite finds content and words of a bookmark fastest.
CREATE TABLE local_account (
    local_number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    account_id   INTEGER NOT NULL UNIQUE
) STRICT;

-- Library tables: account_id leads every key and index.
CREATE TABLE library (
    account_id    INTEGER NOT NULL PRIMARY KEY,
    local_number  INTEGER NOT NULL,
    plan          TEXT    NOT NULL,
    epoch         INTEGER NOT NULL,
    version       INTEGER NOT NULL,
    next_number   INTEGER NOT NULL,
    next_label_id INTEGER NOT NULL,
    total         INTEGER NOT NULL,
    unread        INTEGER NOT NULL,
    archived      INTEGER NOT NULL,
    fresh         INTEGER NOT NULL,
    created_at    INTEGER NOT NULL
) STRICT;

CREATE TABLE api_key (
    account_id INTEGER NOT NULL,
    key_id     TEXT    NOT NULL,
    key_hash   BLOB    NOT NULL,
    name       TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER,
    PRIMARY KEY (account_id, key_hash)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX api_key_by_id ON api_key (account_id, key_id);

CREATE TABLE api_call (
    account_id INTEGER NOT NULL,
    month      INTEGER NOT NULL,
    calls      INTEGER NOT NULL,
    PRIMARY KEY (account_id, month)
) STRICT, WITHOUT ROWID;

-- What filters, orders and state need of a bookmark; narrow, so that a scan of it is cheap.
CREATE TABLE bookmark (
    account_id      INTEGER NOT NULL,
    number          INTEGER NOT NULL,
    post_id         TEXT    NOT NULL,
    sort_index      INTEGER NOT NULL,
    is_read         INTEGER NOT NULL,
    is_archived     INTEGER NOT NULL,
    imported_at     INTEGER NOT NULL,
    bookmarked_at   INTEGER NOT NULL,
    posted_at       INTEGER NOT NULL,
    media           INTEGER NOT NULL,
    author_key      TEXT    NOT NULL,
    author_name_key TEXT    NOT NULL,
    title_key       TEXT    NOT NULL,
    quote_count     INTEGER NOT NULL,
    reply_count     INTEGER NOT NULL,
    retweet_count   INTEGER NOT NULL,
    bookmark_count  INTEGER NOT NULL,
    favorite_count  INTEGER NOT NULL,
    content_hash    BLOB    NOT NULL,
    PRIMARY KEY (account_id, number)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX bookmark_by_post ON bookmark (account_id, post_id);
CREATE INDEX bookmark_fresh ON bookmark (account_id, sort_index, number, is_read, is_archived)
 WHERE NOT is_read AND NOT is_archived;
CREATE INDEX bookmark_all ON bookmark (account_id, sort_index, number, is_read, is_archived, media);
CREATE INDEX bookmark_by_bookmarked ON bookmark (account_id, bookmarked_at, number, is_read, is_archived);
CREATE INDEX bookmark_by_posted ON bookmark (account_id, posted_at, number, is_read, is_archived);
CREATE INDEX bookmark_by_author ON bookmark (account_id, author_key);
CREATE INDEX bookmark_by_author_name ON bookmark (account_id, author_name_key);

-- The ready JSON of a bookmark, all but its closing (tags and flags), and its labels' names.
CREATE TABLE content (
    place          INTEGER NOT NULL PRIMARY KEY,
    render_version INTEGER NOT NULL,
    tags           BLOB,
    rendering      BLOB    NOT NULL
) STRICT;

CREATE TABLE label (
    account_id     INTEGER NOT NULL,
    label_id       INTEGER NOT NULL,
    name           TEXT    NOT NULL,
    name_key       TEXT    NOT NULL,
    metadata       TEXT    NOT NULL,
    bookmark_count INTEGER NOT NULL,
    created_at     INTEGER NOT NULL,
    PRIMARY KEY (account_id, label_id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX label_by_name ON label (account_id, name_key);

CREATE TABLE bookmark_label (
    account_id INTEGER NOT NULL,
    label_id   INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    PRIMARY KEY (account_id, label_id, number)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX bookmark_label_by_bookmark ON bookmark_label (account_id, number, label_id);

-- The words of a bookmark, cut by our own tokenizer; rowid is the place. Nothing but the index is stored.
CREATE VIRTUAL TABLE keyword USING fts5 (
    words,
    content = '',
    contentless_delete = 1,
    tokenize = "ascii tokenchars '#@_'"
);
