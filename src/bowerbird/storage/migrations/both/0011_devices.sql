-- compatible: yes
-- Devices send posts to /ingest/v1, and can do nothing else. Only the hash of a token is stored.
CREATE TABLE device (
    account_id     bigint  NOT NULL,
    device_id      text    COLLATE "C" NOT NULL,
    token_hash     bytea   NOT NULL,
    name           text    NOT NULL,
    -- The account of the source that the device reads, or '' before its first run.
    source_user_id text    NOT NULL,
    created_at     bigint  NOT NULL,
    last_used_at   bigint,
    revoked_at     bigint,
    PRIMARY KEY (account_id, token_hash)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX device_by_id ON device (account_id, device_id);

-- What the protocol needs of a run, beyond the counts of the import.
CREATE TABLE ingest_run (
    account_id     bigint  NOT NULL,
    run_id         text    COLLATE "C" NOT NULL,
    device_id      text    COLLATE "C" NOT NULL,
    source         text    NOT NULL,
    kind           text    NOT NULL,
    source_user_id text    NOT NULL,
    client         text    NOT NULL,
    -- The import under which the posts are listed, or '' before the first post.
    import_id      text    NOT NULL,
    -- running, interrupted or finished
    state          text    NOT NULL,
    reason         text    NOT NULL,
    -- A page with only known posts at or below this index ends an incremental run.
    stop_below     bigint,
    candidates     bigint  NOT NULL,
    removed        bigint  NOT NULL,
    started_at     bigint  NOT NULL,
    updated_at     bigint  NOT NULL,
    -- Whether it read the list without a gap to its end, or to where the list was known.
    is_complete    boolean NOT NULL,
    -- The highest index of the list, if it is complete. The next incremental run stops below it.
    highest        bigint,
    PRIMARY KEY (account_id, run_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX ingest_run_by_start ON ingest_run (account_id, started_at);

-- The answer to each page, so that a repeated page gets it again, and the page's place in its list.
CREATE TABLE ingest_page (
    account_id  bigint  NOT NULL,
    run_id      text    COLLATE "C" NOT NULL,
    seq         bigint  NOT NULL,
    fingerprint bytea   NOT NULL,
    answer      bytea   NOT NULL,
    -- Whether it is a page of the list of all saved posts, and every entry of it was read.
    is_listed   boolean NOT NULL,
    is_readable boolean NOT NULL,
    proves_end  boolean NOT NULL,
    -- Whether the client was told that the library has the rest of the list.
    is_caught_up boolean NOT NULL,
    cursor_in   text    NOT NULL,
    cursor_out  text    NOT NULL,
    lowest      bigint,
    highest     bigint,
    created_at  bigint  NOT NULL,
    PRIMARY KEY (account_id, run_id, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX ingest_page_by_date ON ingest_page (account_id, created_at);

-- Pages that no reader understood, compressed. They are kept for a week and read again.
CREATE TABLE kept_page (
    account_id  bigint  NOT NULL,
    kept_id     text    COLLATE "C" NOT NULL,
    run_id      text    COLLATE "C" NOT NULL,
    seq         bigint  NOT NULL,
    op          text    NOT NULL,
    request_url text    NOT NULL,
    format      text    NOT NULL,
    captured_at bigint  NOT NULL,
    problem     text    NOT NULL,
    size        bigint  NOT NULL,
    created_at  bigint  NOT NULL,
    body        bytea   NOT NULL,
    PRIMARY KEY (account_id, kept_id)
) STRICT;

CREATE INDEX kept_page_by_date ON kept_page (account_id, created_at, size);

-- Whether a post is still saved at its source, by each account of the source, and which run saw
-- it last in the list of all saved posts ('' if none did).
CREATE TABLE source_post (
    account_id     bigint  NOT NULL,
    source         text    COLLATE "C" NOT NULL,
    source_user_id text    COLLATE "C" NOT NULL,
    post_id        text    COLLATE "C" NOT NULL,
    seen_run       text    NOT NULL,
    -- When the source said so. A later statement wins, in whatever order they arrive.
    changed_at     bigint  NOT NULL,
    removed_at     bigint,
    PRIMARY KEY (account_id, source, source_user_id, post_id)
) STRICT, WITHOUT ROWID;
-- For a post that any source user has.
CREATE INDEX source_post_by_id ON source_post (account_id, post_id, changed_at);

-- The names of folders, which become labels.
CREATE TABLE source_folder (
    account_id bigint  NOT NULL,
    folder_id  text    COLLATE "C" NOT NULL,
    name       text    NOT NULL,
    PRIMARY KEY (account_id, folder_id)
) STRICT, WITHOUT ROWID;

-- Files that were sent to be imported, and the report about each.
CREATE TABLE file_import (
    account_id   bigint  NOT NULL,
    job_id       text    COLLATE "C" NOT NULL,
    is_dry_run   boolean NOT NULL,
    state        text    NOT NULL,
    done         bigint  NOT NULL,
    size         bigint  NOT NULL,
    report       bytea   NOT NULL,
    error        text,
    created_at   bigint  NOT NULL,
    -- The server that imports the file renews it. If it is old, that server has stopped.
    alive_at     bigint  NOT NULL,
    completed_at bigint,
    PRIMARY KEY (account_id, job_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX file_import_by_date ON file_import (account_id, created_at);
