-- compatible: yes
-- The last day (days since 1970, UTC) on which an account's key called a version of the API.
CREATE TABLE version_use (
    account_id bigint NOT NULL,
    version    text   COLLATE "C" NOT NULL,
    last_day   bigint NOT NULL,
    PRIMARY KEY (account_id, version)
) STRICT, WITHOUT ROWID;

-- Who was told that a version ends: 'sending' before the letter leaves, then 'sent' or 'refused'.
CREATE TABLE sunset_notice (
    account_id bigint NOT NULL,
    version    text   COLLATE "C" NOT NULL,
    state      text   NOT NULL,
    changed_at bigint NOT NULL,
    PRIMARY KEY (account_id, version)
) STRICT, WITHOUT ROWID;
