-- compatible: yes
-- Many vectors of an account in one value, which is read much faster than their rows: those of the
-- rows of `vector` after the part before, up to the row with this `written` and `number`.
CREATE TABLE vector_part (
    account_id INTEGER NOT NULL,
    model      BLOB    NOT NULL,
    written    INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    -- How many rows there were. If there are fewer now, it is written again.
    posts      INTEGER NOT NULL,
    content    BLOB    NOT NULL,
    PRIMARY KEY (account_id, model, written, number)
) STRICT;
