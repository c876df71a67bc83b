-- compatible: yes
-- Devices send posts to /ingest/v1, and can do nothing else. Only the hash of a token is stored.
CREATE TABLE device (
    account_id     INTEGER NOT NULL,
    device_id      TEXT    NOT NULL,
    token_hash     BLOB    NOT NULL,
    name           TEXT    NOT NULL,
    -- The account of the source that the device reads, or '' before its first run.
    source_user_id TEXT    NOT NULL,
    created_at     INTEGER NOT NULL,
    last_used_at   INTEGER,
    revoked_at     INTEGER,
    PRIMARY KEY (account_id, token_hash)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX device_by_id ON device (account_id, device_id);

-- What the protocol needs of a run, beyond the counts of the import.
CREATE TABLE ingest_run (
    account_id     INTEGER NOT NULL,
    run_id         TEXT    NOT NULL,
    device_id      TEXT    NOT NULL,
    source         TEXT    NOT NULL,
    kind           TEXT    NOT NULL,
    source_user_id TEXT    NOT NULL,
    client         TEXT    NOT NULL,
    -- The import under which the posts are listed, or '' before the first post.
    import_id      TEXT    NOT NULL,
    -- running, interrupted or finished
    state          TEXT    NOT NULL,
    reason         TEXT    NOT NULL,
    -- A page with only known posts at or below this index ends an incremental run.
    stop_below     INTEGER,
    candidates     INTEGER NOT NULL,
    removed        INTEGER NOT NULL,
    started_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    -- Whether it read the list without a gap to its end, or to where the list was known.
    is_complete    INTEGER NOT NULL,
    -- The highest index of the list, if it is complete. The next incremental run stops below it.
    highest        INTEGER,
    PRIMARY KEY (account_id, run_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX ingest_run_by_start ON ingest_run (account_id, started_at);

-- The answer to each page, so that a repeated page gets it again, and the page's place in its list.
CREATE TABLE ingest_page (
    account_id  INTEGER NOT NULL,
    run_id      TEXT    NOT NULL,
    seq         INTEGER NOT NULL,
    fingerprint BLOB    NOT NULL,
    answer      BLOB    NOT NULL,
    -- Whether it is a page of the list of all saved posts, and every entry of it was read.
    is_listed   INTEGER NOT NULL,
    is_readable INTEGER NOT NULL,
    proves_end  INTEGER NOT NULL,
    -- Whether the client was told that the library has the rest of the list.
    is_caught_up INTEGER NOT NULL,
    cursor_in   TEXT    NOT NULL,
    cursor_out  TEXT    NOT NULL,
    lowest      INTEGER,
    highest     INTEGER,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (account_id, run_id, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX ingest_page_by_date ON ingest_page (account_id, created_at);

-- Pages that no reader understood, compressed. They are kept for a week and read again.
CREATE TABLE kept_page (
    account_id  INTEGER NOT NULL,
    kept_id     TEXT    NOT NULL,
    run_id      TEXT    NOT NULL,
    seq         INTEGER NOT NULL,
    op          TEXT    NOT NULL,
    request_url TEXT    NOT NULL,
    format      TEXT    NOT NULL,
    captured_at INTEGER NOT NULL,
    problem     TEXT    NOT NULL,
    size        INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    body        BLOB    NOT NULL,
    PRIMARY KEY (account_id, kept_id)
) STRICT;

CREATE INDEX kept_page_by_date ON kept_page (account_id, created_at, size);

-- Whether a post is still saved at its source, by each account of the source, and which run saw
-- it last in the list of all saved posts ('' if none did).
CREATE TABLE source_post (
    account_id     INTEGER NOT NULL,
    source         TEXT    NOT NULL,
    source_user_id TEXT    NOT NULL,
    post_id        TEXT    NOT NULL,
    seen_run       TEXT    NOT NULL,
    -- When the source said so. A later statement wins, in whatever order they arrive.
    changed_at     INTEGER NOT NULL,
    removed_at     INTEGER,
    PRIMARY KEY (account_id, source, source_user_id, post_id)
) STRICT, WITHOUT ROWID;
-- For a post that any source user has.
CREATE INDEX source_post_by_id ON source_post (account_id, post_id, changed_at);

-- The names of folders, which become labels.
CREATE TABLE source_folder (
    account_id INTEGER NOT NULL,
    folder_id  TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    PRIMARY KEY (account_id, folder_id)
) STRICT, WITHOUT ROWID;

-- Files that were sent to be imported, and the report about each.
CREATE TABLE file_import (
    account_id   INTEGER NOT NULL,
    job_id       TEXT    NOT NULL,
    is_dry_run   INTEGER NOT NULL,
    state        TEXT    NOT NULL,
    done         INTEGER NOT NULL,
    size         INTEGER NOT NULL,
    report       BLOB    NOT NULL,
    error        TEXT,
    created_at   INTEGER NOT NULL,
    -- The server that imports the file renews it. If it is old, that server has stopped.
    alive_at     INTEGER NOT NULL,
    completed_at INTEGER,
    PRIMARY KEY (account_id, job_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX file_import_by_date ON file_import (account_id, created_at);
