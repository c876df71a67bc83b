-- compatible: yes
-- What an account wants to happen by itself to posts that match a query.
CREATE TABLE rule (
    account_id    INTEGER NOT NULL,
    rule_id       TEXT    NOT NULL,
    -- Its place in the order in which rules run, from 1.
    position      INTEGER NOT NULL,
    name          TEXT    NOT NULL,
    -- When it runs, for which posts and what it does, as JSON.
    body          TEXT    NOT NULL,
    is_on         INTEGER NOT NULL,
    -- The last event of the library before it was switched on.
    since         INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    -- How many posts it has changed, and when it last did.
    fired         INTEGER NOT NULL DEFAULT 0,
    last_fired_at INTEGER,
    -- Failures since it last worked, and why it was switched off, or ''.
    failures      INTEGER NOT NULL DEFAULT 0,
    notice        TEXT    NOT NULL DEFAULT '',
    PRIMARY KEY (account_id, rule_id)
) STRICT, WITHOUT ROWID;

-- How far the rules of an account are. The version grows with each change of a rule.
CREATE TABLE rule_state (
    account_id INTEGER NOT NULL,
    is_active  INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    -- The last event that they have seen.
    seen       INTEGER NOT NULL,
    -- When those of every night run next, if there are any.
    night_at   INTEGER,
    PRIMARY KEY (account_id)
) STRICT, WITHOUT ROWID;

-- The latest that rules have done.
CREATE TABLE rule_log (
    account_id INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    rule_id    TEXT    NOT NULL,
    at         INTEGER NOT NULL,
    entry      TEXT    NOT NULL,
    PRIMARY KEY (account_id, number)
) STRICT, WITHOUT ROWID;
