-- compatible: yes
-- Accounts that keep images, and how much they keep.
CREATE TABLE media_account (
    account_id  bigint  NOT NULL PRIMARY KEY,
    -- Whether new images are downloaded.
    is_keeping  boolean NOT NULL,
    -- Everything that is kept is being deleted.
    is_clearing boolean NOT NULL,
    files       bigint  NOT NULL,
    bytes       bigint  NOT NULL,
    -- The quota that was too small for another image; 0 if none was.
    full_at     bigint  NOT NULL,
    -- The state of the library in which all posts were looked at last, and when.
    epoch       bigint  NOT NULL,
    version     bigint  NOT NULL,
    looked_at   bigint  NOT NULL,
    -- After a failure, no job starts before this instant.
    due_at      bigint  NOT NULL
) STRICT, WITHOUT ROWID;

-- Posts whose images are known, and the content in which they were found.
CREATE TABLE media_post (
    account_id   bigint  NOT NULL,
    post_id      text    COLLATE "C" NOT NULL,
    content_hash bytea   NOT NULL,
    PRIMARY KEY (account_id, post_id)
) STRICT, WITHOUT ROWID;

-- Which post has which image.
CREATE TABLE media_link (
    account_id bigint  NOT NULL,
    post_id    text    COLLATE "C" NOT NULL,
    url_key    text    COLLATE "C" NOT NULL,
    PRIMARY KEY (account_id, post_id, url_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX media_link_by_url ON media_link (account_id, url_key);

-- The images by the hash of their URL.
CREATE TABLE media_source (
    account_id bigint  NOT NULL,
    url_key    text    COLLATE "C" NOT NULL,
    url        text    NOT NULL,
    -- The server of the post, in a network of many servers.
    instance   text    NOT NULL,
    -- waiting, kept or left_out
    state      text    NOT NULL,
    -- Why the last attempt failed, or ''.
    reason     text    NOT NULL,
    tries      bigint  NOT NULL,
    due_at     bigint  NOT NULL,
    media_id   text    COLLATE "C",
    PRIMARY KEY (account_id, url_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX media_source_due ON media_source (account_id, due_at, url_key) WHERE state = 'waiting';
CREATE INDEX media_source_by_file ON media_source (account_id, media_id) WHERE media_id IS NOT NULL;

-- The kept files, each content once per account.
CREATE TABLE media_file (
    account_id   bigint  NOT NULL,
    media_id     text    COLLATE "C" NOT NULL,
    content_hash bytea   NOT NULL,
    type         text    NOT NULL,
    bytes        bigint  NOT NULL,
    width        bigint  NOT NULL,
    height       bigint  NOT NULL,
    kept_at      bigint  NOT NULL,
    PRIMARY KEY (account_id, media_id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX media_file_by_content ON media_file (account_id, content_hash);
