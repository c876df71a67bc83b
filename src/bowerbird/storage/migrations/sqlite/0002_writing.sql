-- compatible: yes
-- Answers of keyed writes, kept for a day so that a retry does no work again.
CREATE TABLE idempotency (
    account_id      INTEGER NOT NULL,
    idempotency_key TEXT    NOT NULL,
    fingerprint     BLOB    NOT NULL,
    status          INTEGER NOT NULL,
    headers         TEXT    NOT NULL,
    body            BLOB    NOT NULL,
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (account_id, idempotency_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_by_age ON idempotency (account_id, created_at);

-- Deleted bookmarks, whole, until their time to be restored is over.
CREATE TABLE trash (
    account_id INTEGER NOT NULL,
    post_id    TEXT    NOT NULL,
    bookmark   BLOB    NOT NULL,
    trashed_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, post_id)
) STRICT;

CREATE INDEX trash_by_age ON trash (account_id, trashed_at);

-- Smart Views: a kept query with its name, order and narrower buckets, each as JSON.
CREATE TABLE smart_view (
    account_id     INTEGER NOT NULL,
    slug           TEXT    NOT NULL,
    name           TEXT    NOT NULL,
    description    TEXT    NOT NULL,
    base_query     TEXT    NOT NULL,
    default_sort   TEXT    NOT NULL,
    triage_buckets TEXT    NOT NULL,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    PRIMARY KEY (account_id, slug)
) STRICT, WITHOUT ROWID;
