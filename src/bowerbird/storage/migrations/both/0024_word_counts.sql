-- compatible: no
-- In how many posts of an account each token of the index occurs. The row of '' has how many posts
-- are counted.
CREATE TABLE word_count (
    account_id bigint NOT NULL,
    word       text   COLLATE "C" NOT NULL,
    posts      bigint NOT NULL,
    PRIMARY KEY (account_id, word)
) STRICT, WITHOUT ROWID;

-- Changes of many counts, as a JSON object, until a job has added them in the order of their numbers.
-- Adding them takes a third of the time of an import.
CREATE TABLE word_change (
    account_id bigint NOT NULL,
    number     bigint NOT NULL,
    changes    text   NOT NULL,
    PRIMARY KEY (account_id, number)
) STRICT;

-- The form of the tokens that the index has of a post. Only posts of the current form, 2, are
-- counted; a job writes the tokens of the others again.
ALTER TABLE bookmark ADD COLUMN word_form smallint NOT NULL DEFAULT 1;

CREATE INDEX bookmark_uncounted ON bookmark (account_id, number) WHERE word_form < 2;
