-- compatible: yes
-- How far an account's vectors of one model are. Of two models the older serves until the newer is built.
CREATE TABLE vector_store (
    account_id     INTEGER NOT NULL,
    model          BLOB    NOT NULL,
    name           TEXT    NOT NULL,
    dimensions     INTEGER NOT NULL,
    -- How many bookmarks have a row of this model in `vector`.
    embedded       INTEGER NOT NULL,
    -- Every bookmark of a lower number has one.
    complete_below INTEGER NOT NULL,
    -- Raised when a vector becomes stale, so that a build under way looks again.
    invalidations  INTEGER NOT NULL,
    -- Raised by every change of the vectors.
    generation     INTEGER NOT NULL,
    is_built       INTEGER NOT NULL,
    -- Since when the account is without a paid plan; the vectors outlast that for a while.
    unpaid_since   INTEGER,
    PRIMARY KEY (account_id, model)
) STRICT, WITHOUT ROWID;

-- One row a bookmark and model. A text in several pieces has several scales and as many vectors.
CREATE TABLE vector (
    account_id INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    model      BLOB    NOT NULL,
    text_hash  BLOB    NOT NULL,
    -- The generation of the store in which it was written.
    written    INTEGER NOT NULL,
    scales     BLOB    NOT NULL,
    vectors    BLOB    NOT NULL,
    PRIMARY KEY (account_id, number, model)
) STRICT;

CREATE INDEX vector_by_written ON vector (account_id, model, written, number);
