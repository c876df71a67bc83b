-- compatible: yes
-- Many vectors of an account in one value, which is read much faster than their rows: those of the
-- rows of `vector` after the part before, up to the row with this `written` and `number`.
CREATE TABLE vector_part (
    account_id bigint NOT NULL,
    model      bytea  NOT NULL,
    written    bigint NOT NULL,
    number     bigint NOT NULL,
    -- How many rows there were. If there are fewer now, it is written again.
    posts      bigint NOT NULL,
    content    bytea  NOT NULL,
    PRIMARY KEY (account_id, model, written, number)
);

-- They do not compress.
ALTER TABLE vector_part ALTER COLUMN content SET STORAGE EXTERNAL;
