-- compatible: yes
-- What happened to a library, in order. Each change of it adds one row, which has up to some thousand
-- events: those with the numbers after `last - size`, up to `last`.
CREATE TABLE library_event (
    account_id INTEGER NOT NULL,
    last       INTEGER NOT NULL,
    size       INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    events     BLOB    NOT NULL,
    PRIMARY KEY (account_id, last)
) WITHOUT ROWID;

-- How many events the library has had.
ALTER TABLE library ADD COLUMN events INTEGER NOT NULL DEFAULT 0;
