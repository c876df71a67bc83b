-- compatible: yes
-- How much of a post is stored (0 stub, 1 preview, 2 full), and where its place in the library comes
-- from (0 import, 1 position in a list, 2 date of saving, 3 X).
ALTER TABLE bookmark ADD COLUMN completeness bigint NOT NULL DEFAULT 2;
ALTER TABLE bookmark ADD COLUMN order_source bigint NOT NULL DEFAULT 3;
-- The conversation that a post continues as a reply to its own author, so that its first post is
-- known to start a thread, whichever of them arrives first.
ALTER TABLE bookmark ADD COLUMN thread text COLLATE "C";
CREATE INDEX bookmark_by_thread ON bookmark (account_id, thread) WHERE thread IS NOT NULL;

-- The index of X replaces one that was derived from the time of saving or of the import.
UPDATE bookmark
   SET order_source = CASE WHEN sort_index = (imported_at / 1000) << 20 THEN 0 ELSE 2 END
 WHERE sort_index = (bookmarked_at / 1000) << 20
    OR sort_index = (imported_at / 1000) << 20;

-- Posts that the owner deleted. They stay deleted until they are saved again.
CREATE TABLE deletion (
    account_id   bigint NOT NULL,
    post_id      text COLLATE "C" NOT NULL,
    deleted_at   bigint NOT NULL,
    -- A source has to give a higher index to bring the post back.
    sort_index   bigint NOT NULL,
    completeness bigint NOT NULL,
    order_source bigint NOT NULL,
    PRIMARY KEY (account_id, post_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX deletion_by_age ON deletion (account_id, deleted_at);

INSERT INTO deletion (account_id, post_id, deleted_at, sort_index, completeness, order_source)
SELECT account_id, post_id, trashed_at, (trashed_at / 1000) << 20, 2, 3
  FROM trash;

-- Runs of imports. `number` counts the runs of an account.
CREATE TABLE import_run (
    account_id      bigint NOT NULL,
    number          bigint NOT NULL,
    run_id          text COLLATE "C" NOT NULL,
    source          text    NOT NULL,
    kind            text    NOT NULL,
    client          text    NOT NULL,
    source_user_id  text    NOT NULL,
    state           text    NOT NULL,
    reason          text    NOT NULL,
    cursor          text    NOT NULL,
    started_at      bigint NOT NULL,
    finished_at     bigint,
    new_posts       bigint NOT NULL,
    changed_posts   bigint NOT NULL,
    unchanged_posts bigint NOT NULL,
    ignored_posts   bigint NOT NULL,
    -- Posts that got their place from their position in a list.
    placed_posts    bigint NOT NULL,
    removed_posts   bigint NOT NULL,
    restored_posts  bigint NOT NULL,
    kept_posts      bigint NOT NULL,
    -- Until when the run can be undone; 0 if it cannot.
    undo_until      bigint NOT NULL,
    -- The size of its rows in import_change.
    log_bytes       bigint NOT NULL,
    PRIMARY KEY (account_id, number)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX import_run_by_id ON import_run (account_id, run_id);
CREATE INDEX import_run_logged ON import_run (account_id, undo_until) WHERE log_bytes > 0;

-- What a run changed on each post, so that it can be undone.
CREATE TABLE import_change (
    account_id bigint NOT NULL,
    run        bigint NOT NULL,
    number     bigint NOT NULL,
    change     bytea  NOT NULL,
    PRIMARY KEY (account_id, run, number)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX import_change_by_bookmark ON import_change (account_id, number, run);

-- The labels that a run created.
CREATE TABLE import_label (
    account_id bigint NOT NULL,
    run        bigint NOT NULL,
    label_id   bigint NOT NULL,
    name       text    NOT NULL,
    PRIMARY KEY (account_id, run, label_id)
) STRICT, WITHOUT ROWID;
