-- compatible: yes
-- Addresses that are told what happens in a library, and what was sent to them.
CREATE TABLE webhook (
    account_id    bigint  NOT NULL,
    webhook_id    text    NOT NULL,
    url           text    NOT NULL,
    -- The types of its events, separated by spaces, and a label and words that a post must have.
    -- '' for any.
    events        text    NOT NULL,
    tag           text    NOT NULL,
    query         text    NOT NULL,
    -- active, paused or disabled
    state         text    NOT NULL,
    -- Why the last message was not delivered, or ''.
    problem       text    NOT NULL,
    -- The encrypted secrets, and when the older one was replaced.
    sealed        bytea   NOT NULL,
    rotated_at    bigint,
    -- The number of the last event that it needs no more.
    delivered     bigint  NOT NULL,
    failures      bigint  NOT NULL,
    failing_since bigint,
    next_try_at   bigint  NOT NULL,
    -- Whether the account has to be told that it was disabled.
    is_untold     boolean NOT NULL,
    last_sent_at  bigint,
    created_at    bigint  NOT NULL,
    updated_at    bigint  NOT NULL,
    PRIMARY KEY (account_id, webhook_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX webhook_due ON webhook (account_id, next_try_at)
 WHERE state = 'active' OR is_untold;

CREATE TABLE webhook_delivery (
    account_id bigint  NOT NULL,
    webhook_id text    NOT NULL,
    message_id text    NOT NULL,
    type       text    NOT NULL,
    -- waiting, retrying, delivered or failed
    state      text    NOT NULL,
    tries      bigint  NOT NULL,
    created_at bigint  NOT NULL,
    tried_at   bigint,
    took_ms    bigint,
    -- What was answered; no status if nothing was. '' for no problem.
    status     bigint,
    answer     text    NOT NULL,
    problem    text    NOT NULL,
    body       bytea   NOT NULL,
    PRIMARY KEY (account_id, webhook_id, message_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX webhook_delivery_waiting ON webhook_delivery (account_id, created_at)
 WHERE state = 'waiting';
