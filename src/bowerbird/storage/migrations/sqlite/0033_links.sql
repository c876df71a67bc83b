-- compatible: yes
-- Posts that are only links: where their text can be asked for, and when.
CREATE TABLE bare_link (
    account_id INTEGER NOT NULL,
    post_id    TEXT    NOT NULL,
    -- The host to ask, or '' while nothing has looked at the link.
    host       TEXT    NOT NULL,
    -- waiting or left
    state      TEXT    NOT NULL,
    -- Why the last attempt failed, or ''.
    reason     TEXT    NOT NULL,
    tries      INTEGER NOT NULL,
    due_at     INTEGER NOT NULL,
    -- Since when the text is asked for.
    since      INTEGER NOT NULL,
    PRIMARY KEY (account_id, post_id)
) WITHOUT ROWID;

CREATE INDEX bare_link_due ON bare_link (account_id, due_at) WHERE state = 'waiting';
CREATE INDEX bare_link_by_host ON bare_link (account_id, host, due_at, post_id) WHERE state = 'waiting';

INSERT INTO bare_link (account_id, post_id, host, state, reason, tries, due_at, since)
SELECT b.account_id, b.post_id, '', 'waiting', '', 0, b.imported_at, unixepoch() * 1000000
  FROM bookmark AS b
 WHERE b.completeness = 0;

-- When each host may be asked next, by all nodes and for all accounts together.
CREATE TABLE host_turn (
    host     TEXT    NOT NULL PRIMARY KEY,
    next_at  INTEGER NOT NULL,
    -- How many times in a row it gave no answer.
    failures INTEGER NOT NULL
) WITHOUT ROWID;
