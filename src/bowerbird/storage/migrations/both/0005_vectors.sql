-- compatible: yes
-- How far an account's vectors of one model are. Of two models the older serves until the newer is built.
CREATE TABLE vector_store (
    account_id     bigint  NOT NULL,
    model          bytea   NOT NULL,
    name           text    NOT NULL,
    dimensions     bigint  NOT NULL,
    -- How many bookmarks have a row of this model in `vector`.
    embedded       bigint  NOT NULL,
    -- Every bookmark of a lower number has one.
    complete_below bigint  NOT NULL,
    -- Raised when a vector becomes stale, so that a build under way looks again.
    invalidations  bigint  NOT NULL,
    -- Raised by every change of the vectors.
    generation     bigint  NOT NULL,
    is_built       boolean NOT NULL,
    -- Since when the account is without a paid plan; the vectors outlast that for a while.
    unpaid_since   bigint,
    PRIMARY KEY (account_id, model)
) STRICT, WITHOUT ROWID;

-- One row a bookmark and model. A text in several pieces has several scales and as many vectors.
CREATE TABLE vector (
    account_id bigint NOT NULL,
    number     bigint NOT NULL,
    model      bytea  NOT NULL,
    text_hash  bytea  NOT NULL,
    -- The generation of the store in which it was written.
    written    bigint NOT NULL,
    scales     bytea  NOT NULL,
    vectors    bytea  NOT NULL,
    PRIMARY KEY (account_id, number, model)
) STRICT;

CREATE INDEX vector_by_written ON vector (account_id, model, written, number);
