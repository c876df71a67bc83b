-- compatible: no
CREATE EXTENSION IF NOT EXISTS btree_gin;

-- Control tables: who owns which account. They may live in a database of their own.
CREATE TABLE person (
    account_id bigint NOT NULL PRIMARY KEY,
    email      text   NOT NULL,
    email_key  text   COLLATE "C" NOT NULL UNIQUE,
    created_at bigint NOT NULL
);

CREATE TABLE secret (
    name       text   NOT NULL PRIMARY KEY,
    value      bytea  NOT NULL,
    created_at bigint NOT NULL
);

-- Library tables: account_id leads every key and index.
CREATE TABLE library (
    account_id    bigint NOT NULL PRIMARY KEY,
    -- SQLite alone needs a number of its own; here it is always 0.
    local_number  bigint NOT NULL,
    plan          text   NOT NULL,
    epoch         bigint NOT NULL,
    version       bigint NOT NULL,
    next_number   bigint NOT NULL,
    next_label_id bigint NOT NULL,
    total         bigint NOT NULL,
    unread        bigint NOT NULL,
    archived      bigint NOT NULL,
    fresh         bigint NOT NULL,
    created_at    bigint NOT NULL
);

CREATE TABLE api_key (
    account_id bigint NOT NULL,
    key_id     text   COLLATE "C" NOT NULL,
    key_hash   bytea  NOT NULL,
    name       text   NOT NULL,
    created_at bigint NOT NULL,
    revoked_at bigint,
    PRIMARY KEY (account_id, key_hash)
);

CREATE UNIQUE INDEX api_key_by_id ON api_key (account_id, key_id);

CREATE TABLE api_call (
    account_id bigint NOT NULL,
    month      bigint NOT NULL,
    calls      bigint NOT NULL,
    PRIMARY KEY (account_id, month)
);

-- What filters, orders and state need of a bookmark; narrow, so that a scan of it is cheap.
CREATE TABLE bookmark (
    account_id      bigint  NOT NULL,
    number          bigint  NOT NULL,
    post_id         text    COLLATE "C" NOT NULL,
    sort_index      bigint  NOT NULL,
    is_read         boolean NOT NULL,
    is_archived     boolean NOT NULL,
    imported_at     bigint  NOT NULL,
    bookmarked_at   bigint  NOT NULL,
    posted_at       bigint  NOT NULL,
    media           bigint  NOT NULL,
    author_key      text    COLLATE "C" NOT NULL,
    author_name_key text    COLLATE "C" NOT NULL,
    title_key       text    COLLATE "C" NOT NULL,
    quote_count     bigint  NOT NULL,
    reply_count     bigint  NOT NULL,
    retweet_count   bigint  NOT NULL,
    bookmark_count  bigint  NOT NULL,
    favorite_count  bigint  NOT NULL,
    content_hash    bytea   NOT NULL,
    PRIMARY KEY (account_id, number)
);

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
    account_id     bigint NOT NULL,
    number         bigint NOT NULL,
    render_version bigint NOT NULL,
    tags           bytea,
    rendering      bytea  NOT NULL,
    PRIMARY KEY (account_id, number)
);

CREATE TABLE label (
    account_id     bigint NOT NULL,
    label_id       bigint NOT NULL,
    name           text   NOT NULL,
    name_key       text   COLLATE "C" NOT NULL,
    metadata       text   NOT NULL,
    bookmark_count bigint NOT NULL,
    created_at     bigint NOT NULL,
    PRIMARY KEY (account_id, label_id)
);

CREATE UNIQUE INDEX label_by_name ON label (account_id, name_key);

CREATE TABLE bookmark_label (
    account_id bigint NOT NULL,
    label_id   bigint NOT NULL,
    number     bigint NOT NULL,
    PRIMARY KEY (account_id, label_id, number)
);

CREATE UNIQUE INDEX bookmark_label_by_bookmark ON bookmark_label (account_id, number, label_id);

-- The words of a bookmark, cut by our own tokenizer.
CREATE TABLE keyword (
    account_id bigint   NOT NULL,
    number     bigint   NOT NULL,
    words      tsvector NOT NULL,
    PRIMARY KEY (account_id, number)
);

-- Led by account_id: an index over the words alone is 200 times slower in a shared database.
CREATE INDEX keyword_words ON keyword USING gin (account_id, words);
