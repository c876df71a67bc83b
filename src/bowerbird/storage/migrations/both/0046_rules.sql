-- compatible: yes
-- What an account wants to happen by itself to posts that match a query.
CREATE TABLE rule (
    account_id    bigint  NOT NULL,
    rule_id       text    NOT NULL,
    -- Its place in the order in which rules run, from 1.
    position      bigint  NOT NULL,
    name          text    NOT NULL,
    -- When it runs, for which posts and what it does, as JSON.
    body          text    NOT NULL,
    is_on         boolean NOT NULL,
    -- The last event of the library before it was switched on.
    since         bigint  NOT NULL,
    created_at    bigint  NOT NULL,
    updated_at    bigint  NOT NULL,
    -- How many posts it has changed, and when it last did.
    fired         bigint  NOT NULL DEFAULT 0,
    last_fired_at bigint,
    -- Failures since it last worked, and why it was switched off, or ''.
    failures      bigint  NOT NULL DEFAULT 0,
    notice        text    NOT NULL DEFAULT '',
    PRIMARY KEY (account_id, rule_id)
) STRICT, WITHOUT ROWID;

-- How far the rules of an account are. The version grows with each change of a rule.
CREATE TABLE rule_state (
    account_id bigint  NOT NULL,
    is_active  boolean NOT NULL,
    version    bigint  NOT NULL,
    -- The last event that they have seen.
    seen       bigint  NOT NULL,
    -- When those of every night run next, if there are any.
    night_at   bigint,
    PRIMARY KEY (account_id)
) STRICT, WITHOUT ROWID;

-- The latest that rules have done.
CREATE TABLE rule_log (
    account_id bigint  NOT NULL,
    number     bigint  NOT NULL,
    rule_id    text    NOT NULL,
    at         bigint  NOT NULL,
    entry      text    NOT NULL,
    PRIMARY KEY (account_id, number)
) STRICT, WITHOUT ROWID;
