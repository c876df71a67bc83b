-- compatible: yes
-- Accounts that keep images, and how much they keep.
CREATE TABLE media_account (
    account_id  INTEGER NOT NULL PRIMARY KEY,
    -- Whether new images are downloaded.
    is_keeping  INTEGER NOT NULL,
    -- Everything that is kept is being deleted.
    is_clearing INTEGER NOT NULL,
    files       INTEGER NOT NULL,
    bytes       INTEGER NOT NULL,
    -- The quota that was too small for another image; 0 if none was.
    full_at     INTEGER NOT NULL,
    -- The state of the library in which all posts were looked at last, and when.
    epoch       INTEGER NOT NULL,
    version     INTEGER NOT NULL,
    looked_at   INTEGER NOT NULL,
    -- After a failure, no job starts before this instant.
    due_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Posts whose images are known, and the content in which they were found.
CREATE TABLE media_post (
    account_id   INTEGER NOT NULL,
    post_id      TEXT    NOT NULL,
    content_hash BLOB    NOT NULL,
    PRIMARY KEY (account_id, post_id)
) STRICT, WITHOUT ROWID;

-- Which post has which image.
CREATE TABLE media_link (
    account_id INTEGER NOT NULL,
    post_id    TEXT    NOT NULL,
    url_key    TEXT    NOT NULL,
    PRIMARY KEY (account_id, post_id, url_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX media_link_by_url ON media_link (account_id, url_key);

-- The images by the hash of their URL.
CREATE TABLE media_source (
    account_id INTEGER NOT NULL,
    url_key    TEXT    NOT NULL,
    url        TEXT    NOT NULL,
    -- The server of the post, in a network of many servers.
    instance   TEXT    NOT NULL,
    -- waiting, kept or left_out
    state      TEXT    NOT NULL,
    -- Why the last attempt failed, or ''.
    reason     TEXT    NOT NULL,
    tries      INTEGER NOT NULL,
    due_at     INTEGER NOT NULL,
    media_id   TEXT,
    PRIMARY KEY (account_id, url_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX media_source_due ON media_source (account_id, due_at, url_key) WHERE state = 'waiting';
CREATE INDEX media_source_by_file ON media_source (account_id, media_id) WHERE media_id IS NOT NULL;

-- The kept files, each content once per account.
CREATE TABLE media_file (
    account_id   INTEGER NOT NULL,
    media_id     TEXT    NOT NULL,
    content_hash BLOB    NOT NULL,
    type         TEXT    NOT NULL,
    bytes        INTEGER NOT NULL,
    width        INTEGER NOT NULL,
    height       INTEGER NOT NULL,
    kept_at      INTEGER NOT NULL,
    PRIMARY KEY (account_id, media_id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX media_file_by_content ON media_file (account_id, content_hash);
