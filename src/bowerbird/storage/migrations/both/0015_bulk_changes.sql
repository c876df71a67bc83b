-- compatible: yes
-- Changes of many posts. `number` counts the changes of an account.
CREATE TABLE bulk_change (
    account_id  bigint  NOT NULL,
    number      bigint  NOT NULL,
    change_id   text COLLATE "C" NOT NULL,
    action      text    NOT NULL,
    -- The label that it adds, removes, deletes or merges, as JSON; '' without one.
    label       text    NOT NULL,
    state       text    NOT NULL,
    -- Posts that it was started for, that it has handled, changed, and given back by its undo.
    matched     bigint  NOT NULL,
    done        bigint  NOT NULL,
    changed     bigint  NOT NULL,
    restored    bigint  NOT NULL,
    -- Its rows in bulk_post, or more.
    kept        bigint  NOT NULL,
    created_at  bigint  NOT NULL,
    finished_at bigint,
    -- Until when it can be undone; 0 if it cannot.
    undo_until  bigint  NOT NULL,
    -- The job that does the rest; '' without one.
    job_id      text COLLATE "C" NOT NULL,
    PRIMARY KEY (account_id, number)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX bulk_change_by_id ON bulk_change (account_id, change_id);

-- The posts that a change has yet to handle, some per row.
CREATE TABLE bulk_part (
    account_id bigint  NOT NULL,
    change     bigint  NOT NULL,
    part       bigint  NOT NULL,
    posts      bytea   NOT NULL,
    PRIMARY KEY (account_id, change, part)
) STRICT, WITHOUT ROWID;

-- What a change did to each post, so that it can be undone.
CREATE TABLE bulk_post (
    account_id bigint  NOT NULL,
    change     bigint  NOT NULL,
    post_id    text COLLATE "C" NOT NULL,
    -- 0 read, -1 archived, -2 in the trash; otherwise a label.
    field      bigint  NOT NULL,
    was_set    boolean NOT NULL,
    -- The version of the library after the change: the latest row of a field has its present state.
    version    bigint  NOT NULL,
    -- What the trash had of the post, as JSON.
    kept       bytea,
    PRIMARY KEY (account_id, change, post_id, field)
) STRICT, WITHOUT ROWID;

CREATE INDEX bulk_post_by_field ON bulk_post (account_id, post_id, field, version);

-- Archived posts by the default order.
CREATE INDEX bookmark_archived ON bookmark (account_id, sort_index, number, is_read, is_archived)
 WHERE is_archived;
-- The trash page by page.
CREATE INDEX trash_in_order ON trash (account_id, trashed_at, post_id);
