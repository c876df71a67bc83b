-- compatible: yes
-- The owner operates the service. The first account of an existing library is the owner's, unless
-- it is being deleted: then it has no library.
ALTER TABLE person ADD COLUMN is_owner INTEGER NOT NULL DEFAULT 0;

UPDATE person
   SET is_owner = 1
 WHERE account_id = (SELECT p.account_id
                       FROM person AS p
                       JOIN library AS l ON l.account_id = p.account_id
                      ORDER BY p.created_at, p.account_id
                      LIMIT 1);

CREATE UNIQUE INDEX person_owner ON person (is_owner) WHERE is_owner;

-- The start of the key, by which people recognise it; '' for keys of earlier releases.
ALTER TABLE api_key ADD COLUMN shown TEXT NOT NULL DEFAULT '';
-- Days since 1970, UTC.
ALTER TABLE api_key ADD COLUMN last_used_day INTEGER;

-- Browsers that are signed in. Only the hash of the cookie is stored.
CREATE TABLE web_session (
    account_id   INTEGER NOT NULL,
    session_hash BLOB    NOT NULL,
    session_id   TEXT    NOT NULL,
    -- link, passkey or the name of a provider
    method       TEXT    NOT NULL,
    device       TEXT    NOT NULL,
    address      TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL,
    -- When the person last proved who they are.
    proved_at    INTEGER NOT NULL,
    PRIMARY KEY (account_id, session_hash)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX web_session_by_id ON web_session (account_id, session_id);

-- Links that work once: they sign in, create an account or confirm an address.
CREATE TABLE one_time_link (
    link_hash  BLOB    NOT NULL PRIMARY KEY,
    link_id    TEXT    NOT NULL UNIQUE,
    -- owner, account, invitation or email
    kind       TEXT    NOT NULL,
    -- The account that it belongs to; 0 if it creates one.
    account_id INTEGER NOT NULL,
    -- What an invitation is for, or the address that is confirmed.
    detail     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at    INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX one_time_link_by_account ON one_time_link (account_id, kind, created_at);
CREATE INDEX one_time_link_by_expiry ON one_time_link (expires_at);

CREATE TABLE passkey (
    account_id    INTEGER NOT NULL,
    credential_id BLOB    NOT NULL,
    passkey_id    TEXT    NOT NULL,
    public_key    BLOB    NOT NULL,
    sign_count    INTEGER NOT NULL,
    name          TEXT    NOT NULL,
    -- JSON array, as the browser gave it: a hint for the next sign-in.
    transports    TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    last_used_at  INTEGER,
    PRIMARY KEY (account_id, credential_id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX passkey_by_id ON passkey (account_id, passkey_id);

-- Accounts at providers with which a person signs in.
CREATE TABLE provider_identity (
    issuer       TEXT    NOT NULL,
    subject      TEXT    NOT NULL,
    account_id   INTEGER NOT NULL,
    identity_id  TEXT    NOT NULL,
    -- How the person is called there, so that they recognise it.
    shown        TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER,
    PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX provider_identity_by_account ON provider_identity (account_id, identity_id);

-- Proofs that were accepted, so that none is accepted twice.
CREATE TABLE spent_attempt (
    attempt_hash BLOB    NOT NULL PRIMARY KEY,
    expires_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX spent_attempt_by_date ON spent_attempt (expires_at);

-- What happened to an account, for its holder.
CREATE TABLE activity (
    account_id INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    entry_id   TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    detail     TEXT    NOT NULL,
    address    TEXT    NOT NULL,
    PRIMARY KEY (account_id, at, entry_id)
) STRICT, WITHOUT ROWID;

-- The operator's page lists accounts, and the jobs that are not finished or have failed.
CREATE INDEX person_by_date ON person (created_at, account_id);
CREATE INDEX job_open ON job (account_id, created_at, job_id)
 WHERE state IN ('pending', 'processing', 'failed');
