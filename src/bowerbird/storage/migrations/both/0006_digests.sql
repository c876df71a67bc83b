-- compatible: yes
-- Digests: counts and ids of posts as JSON, one a period, and how far the letter has come.
-- Days are counted from 1970-01-01.
CREATE TABLE digest (
    account_id  bigint NOT NULL,
    kind        text   COLLATE "C" NOT NULL,
    first_day   bigint NOT NULL,
    end_day     bigint NOT NULL,
    time_zone   text   NOT NULL,
    made_at     bigint NOT NULL,
    contents    bytea  NOT NULL,
    mail_state  text   COLLATE "C" NOT NULL,
    mail_tries  bigint NOT NULL,
    mail_at     bigint NOT NULL,
    mail_reason text   NOT NULL,
    PRIMARY KEY (account_id, kind, first_day)
) STRICT, WITHOUT ROWID;

CREATE INDEX digest_by_end ON digest (account_id, end_day, kind);
CREATE INDEX digest_in_the_post ON digest (account_id, mail_at, kind, first_day)
 WHERE mail_state IN ('waiting', 'sending');

-- What an account wants of digests. A worker looks at it once due_at has come; 0 says at once.
CREATE TABLE digest_preference (
    account_id        bigint  NOT NULL PRIMARY KEY,
    frequency         text    COLLATE "C" NOT NULL,
    time_zone         text    COLLATE "C" NOT NULL,
    hour              bigint  NOT NULL,
    is_mailed         boolean NOT NULL,
    since             bigint  NOT NULL,
    due_at            bigint  NOT NULL,
    unsubscribe_token text    COLLATE "C"
) STRICT;

CREATE INDEX digest_due ON digest_preference (account_id, due_at);

INSERT INTO digest_preference (account_id, frequency, time_zone, hour, is_mailed, since, due_at)
SELECT account_id, 'weekly', 'UTC', 8, false, created_at, 0
  FROM library;
