-- compatible: yes
-- Answers of keyed writes, kept for a day so that a retry does no work again.
CREATE TABLE idempotency (
    account_id      bigint  NOT NULL,
    idempotency_key text    COLLATE "C" NOT NULL,
    fingerprint     bytea   NOT NULL,
    status          bigint  NOT NULL,
    headers         text    NOT NULL,
    body            bytea   NOT NULL,
    created_at      bigint  NOT NULL,
    PRIMARY KEY (account_id, idempotency_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_by_age ON idempotency (account_id, created_at);

-- Deleted bookmarks, whole, until their time to be restored is over.
CREATE TABLE trash (
    account_id bigint  NOT NULL,
    post_id    text    COLLATE "C" NOT NULL,
    bookmark   bytea   NOT NULL,
    trashed_at bigint  NOT NULL,
    PRIMARY KEY (account_id, post_id)
) STRICT;

CREATE INDEX trash_by_age ON trash (account_id, trashed_at);

-- Smart Views: a kept query with its name, order and narrower buckets, each as JSON.
CREATE TABLE smart_view (
    account_id     bigint  NOT NULL,
    slug           text    COLLATE "C" NOT NULL,
    name           text    NOT NULL,
    description    text    NOT NULL,
    base_query     text    NOT NULL,
    default_sort   text    NOT NULL,
    triage_buckets text    NOT NULL,
    created_at     bigint  NOT NULL,
    updated_at     bigint  NOT NULL,
    PRIMARY KEY (account_id, slug)
) STRICT, WITHOUT ROWID;
