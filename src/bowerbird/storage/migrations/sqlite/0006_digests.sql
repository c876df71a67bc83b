-- compatible: yes
-- Digests: counts and ids of posts as JSON, one a period, and how far the letter has come.
-- Days are counted from 1970-01-01.
CREATE TABLE digest (
    account_id  INTEGER NOT NULL,
    kind        TEXT    NOT NULL,
    first_day   INTEGER NOT NULL,
    end_day     INTEGER NOT NULL,
    time_zone   TEXT    NOT NULL,
    made_at     INTEGER NOT NULL,
    contents    BLOB    NOT NULL,
    mail_state  TEXT    NOT NULL,
    mail_tries  INTEGER NOT NULL,
    mail_at     INTEGER NOT NULL,
    mail_reason TEXT    NOT NULL,
    PRIMARY KEY (account_id, kind, first_day)
) STRICT, WITHOUT ROWID;

CREATE INDEX digest_by_end ON digest (account_id, end_day, kind);
CREATE INDEX digest_in_the_post ON digest (account_id, mail_at, kind, first_day)
 WHERE mail_state IN ('waiting', 'sending');

-- What an account wants of digests. A worker looks at it once due_at has come; 0 says at once.
CREATE TABLE digest_preference (
    account_id        INTEGER NOT NULL PRIMARY KEY,
    frequency         TEXT    NOT NULL,
    time_zone         TEXT    NOT NULL,
    hour              INTEGER NOT NULL,
    is_mailed         INTEGER NOT NULL,
    since             INTEGER NOT NULL,
    due_at            INTEGER NOT NULL,
    unsubscribe_token TEXT
) STRICT;

CREATE INDEX digest_due ON digest_preference (account_id, due_at);

INSERT INTO digest_preference (account_id, frequency, time_zone, hour, is_mailed, since, due_at)
SELECT account_id, 'weekly', 'UTC', 8, 0, created_at, 0
  FROM library;
