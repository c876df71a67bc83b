-- compatible: yes
-- Posts that are only links: where their text can be asked for, and when.
CREATE TABLE bare_link (
    account_id bigint NOT NULL,
    post_id    text   COLLATE "C" NOT NULL,
    -- The host to ask, or '' while nothing has looked at the link.
    host       text   COLLATE "C" NOT NULL,
    -- waiting or left
    state      text   NOT NULL,
    -- Why the last attempt failed, or ''.
    reason     text   NOT NULL,
    tries      bigint NOT NULL,
    due_at     bigint NOT NULL,
    -- Since when the text is asked for.
    since      bigint NOT NULL,
    PRIMARY KEY (account_id, post_id)
);

CREATE INDEX bare_link_due ON bare_link (account_id, due_at) WHERE state = 'waiting';
CREATE INDEX bare_link_by_host ON bare_link (account_id, host, due_at, post_id) WHERE state = 'waiting';

INSERT INTO bare_link (account_id, post_id, host, state, reason, tries, due_at, since)
SELECT b.account_id, b.post_id, '', 'waiting', '', 0, b.imported_at,
       CAST(extract(epoch FROM now()) * 1000000 AS bigint)
  FROM bookmark AS b
 WHERE b.completeness = 0;

-- When each host may be asked next, by all nodes and for all accounts together.
CREATE TABLE host_turn (
    host     text   COLLATE "C" NOT NULL PRIMARY KEY,
    next_at  bigint NOT NULL,
    -- How many times in a row it gave no answer.
    failures bigint NOT NULL
);
