-- compatible: yes
-- What an account's posts explain: a word or phrase, and what else is written for it.
CREATE TABLE abbreviation (
    account_id bigint NOT NULL,
    typed      text   COLLATE "C" NOT NULL,
    meaning    text   COLLATE "C" NOT NULL,
    PRIMARY KEY (account_id, typed, meaning)
) STRICT, WITHOUT ROWID;
