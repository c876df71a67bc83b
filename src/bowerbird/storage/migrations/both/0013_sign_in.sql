-- compatible: yes
-- The owner operates the service. The first account of an existing library is the owner's, unless
-- it is being deleted: then it has no library.
ALTER TABLE person ADD COLUMN is_owner boolean NOT NULL DEFAULT false;

UPDATE person
   SET is_owner = true
 WHERE account_id = (SELECT p.account_id
                       FROM person AS p
                       JOIN library AS l ON l.account_id = p.account_id
                      ORDER BY p.created_at, p.account_id
                      LIMIT 1);

CREATE UNIQUE INDEX person_owner ON person (is_owner) WHERE is_owner;

-- The start of the key, by which people recognise it; '' for keys of earlier releases.
ALTER TABLE api_key ADD COLUMN shown text NOT NULL DEFAULT '';
-- Days since 1970, UTC.
ALTER TABLE api_key ADD COLUMN last_used_day bigint;

-- Browsers that are signed in. Only the hash of the cookie is stored.
CREATE TABLE web_session (
    account_id   bigint  NOT NULL,
    session_hash bytea   NOT NULL,
    session_id   text    COLLATE "C" NOT NULL,
    -- link, passkey or the name of a provider
    method       text    NOT NULL,
    device       text    NOT NULL,
    address      text    NOT NULL,
    created_at   bigint  NOT NULL,
    last_used_at bigint  NOT NULL,
    -- When the person last proved who they are.
    proved_at    bigint  NOT NULL,
    PRIMARY KEY (account_id, session_hash)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX web_session_by_id ON web_session (account_id, session_id);

-- Links that work once: they sign in, create an account or confirm an address.
CREATE TABLE one_time_link (
    link_hash  bytea   NOT NULL PRIMARY KEY,
    link_id    text    COLLATE "C" NOT NULL UNIQUE,
    -- owner, account, invitation or email
    kind       text    NOT NULL,
    -- The account that it belongs to; 0 if it creates one.
    account_id bigint  NOT NULL,
    -- What an invitation is for, or the address that is confirmed.
    detail     text    NOT NULL,
    created_at bigint  NOT NULL,
    expires_at bigint  NOT NULL,
    used_at    bigint
) STRICT, WITHOUT ROWID;

CREATE INDEX one_time_link_by_account ON one_time_link (account_id, kind, created_at);
CREATE INDEX one_time_link_by_expiry ON one_time_link (expires_at);

CREATE TABLE passkey (
    account_id    bigint  NOT NULL,
    credential_id bytea   NOT NULL,
    passkey_id    text    COLLATE "C" NOT NULL,
    public_key    bytea   NOT NULL,
    sign_count    bigint  NOT NULL,
    name          text    NOT NULL,
    -- JSON array, as the browser gave it: a hint for the next sign-in.
    transports    text    NOT NULL,
    created_at    bigint  NOT NULL,
    last_used_at  bigint,
    PRIMARY KEY (account_id, credential_id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX passkey_by_id ON passkey (account_id, passkey_id);

-- Accounts at providers with which a person signs in.
CREATE TABLE provider_identity (
    issuer       text    COLLATE "C" NOT NULL,
    subject      text    COLLATE "C" NOT NULL,
    account_id   bigint  NOT NULL,
    identity_id  text    COLLATE "C" NOT NULL,
    -- How the person is called there, so that they recognise it.
    shown        text    NOT NULL,
    created_at   bigint  NOT NULL,
    last_used_at bigint,
    PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX provider_identity_by_account ON provider_identity (account_id, identity_id);

-- Proofs that were accepted, so that none is accepted twice.
CREATE TABLE spent_attempt (
    attempt_hash bytea   NOT NULL PRIMARY KEY,
    expires_at   bigint  NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX spent_attempt_by_date ON spent_attempt (expires_at);

-- What happened to an account, for its holder.
CREATE TABLE activity (
    account_id bigint  NOT NULL,
    at         bigint  NOT NULL,
    entry_id   text    COLLATE "C" NOT NULL,
    kind       text    NOT NULL,
    detail     text    NOT NULL,
    address    text    NOT NULL,
    PRIMARY KEY (account_id, at, entry_id)
) STRICT, WITHOUT ROWID;

-- The operator's page lists accounts, and the jobs that are not finished or have failed.
CREATE INDEX person_by_date ON person (created_at, account_id);
CREATE INDEX job_open ON job (account_id, created_at, job_id)
 WHERE state IN ('pending', 'processing', 'failed');
