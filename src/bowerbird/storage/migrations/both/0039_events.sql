-- compatible: yes
-- What happened to a library, in order. Each change of it adds one row, which has up to some thousand
-- events: those with the numbers after `last - size`, up to `last`.
CREATE TABLE library_event (
    account_id bigint NOT NULL,
    last       bigint NOT NULL,
    size       bigint NOT NULL,
    at         bigint NOT NULL,
    events     bytea  NOT NULL,
    PRIMARY KEY (account_id, last)
) WITHOUT ROWID;

-- How many events the library has had.
ALTER TABLE library ADD COLUMN events bigint NOT NULL DEFAULT 0;
