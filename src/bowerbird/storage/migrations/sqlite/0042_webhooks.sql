-- compatible: yes
-- Addresses that are told what happens in a library, and what was sent to them.
CREATE TABLE webhook (
    account_id    INTEGER NOT NULL,
    webhook_id    TEXT    NOT NULL,
    url           TEXT    NOT NULL,
    -- The types of its events, separated by spaces, and a label and words that a post must have.
    -- '' for any.
    events        TEXT    NOT NULL,
    tag           TEXT    NOT NULL,
    query         TEXT    NOT NULL,
    -- active, paused or disabled
    state         TEXT    NOT NULL,
    -- Why the last message was not delivered, or ''.
    problem       TEXT    NOT NULL,
    -- The encrypted secrets, and when the older one was replaced.
    sealed        BLOB    NOT NULL,
    rotated_at    INTEGER,
    -- The number of the last event that it needs no more.
    delivered     INTEGER NOT NULL,
    failures      INTEGER NOT NULL,
    failing_since INTEGER,
    next_try_at   INTEGER NOT NULL,
    -- Whether the account has to be told that it was disabled.
    is_untold     INTEGER NOT NULL,
    last_sent_at  INTEGER,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    PRIMARY KEY (account_id, webhook_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX webhook_due ON webhook (account_id, next_try_at)
 WHERE state = 'active' OR is_untold;

CREATE TABLE webhook_delivery (
    account_id INTEGER NOT NULL,
    webhook_id TEXT    NOT NULL,
    message_id TEXT    NOT NULL,
    type       TEXT    NOT NULL,
    -- waiting, retrying, delivered or failed
    state      TEXT    NOT NULL,
    tries      INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    tried_at   INTEGER,
    took_ms    INTEGER,
    -- What was answered; no status if nothing was. '' for no problem.
    status     INTEGER,
    answer     TEXT    NOT NULL,
    problem    TEXT    NOT NULL,
    body       BLOB    NOT NULL,
    PRIMARY KEY (account_id, webhook_id, message_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX webhook_delivery_waiting ON webhook_delivery (account_id, created_at)
 WHERE state = 'waiting';
