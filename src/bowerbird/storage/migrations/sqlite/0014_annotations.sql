-- compatible: yes
-- Posts whose notes earlier releases did not index. The service indexes them and removes the rows.
CREATE TABLE unindexed_note (
    account_id INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    PRIMARY KEY (account_id, number)
) STRICT, WITHOUT ROWID;

INSERT INTO unindexed_note (account_id, number)
SELECT l.account_id, c.place & 0xffffffffff
  FROM content AS c
  JOIN library AS l ON l.local_number = c.place >> 40
 WHERE instr(c.rendering, CAST('"note":' AS BLOB)) > 0;

-- Notes before their last change and highlights that were removed, so that it can be undone.
CREATE TABLE replaced_annotation (
    account_id    INTEGER NOT NULL,
    post_id       TEXT    NOT NULL,
    -- note, or the id of a highlight
    annotation_id TEXT    NOT NULL,
    content       BLOB    NOT NULL,
    replaced_at   INTEGER NOT NULL,
    PRIMARY KEY (account_id, post_id, annotation_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX replaced_annotation_by_date ON replaced_annotation (account_id, replaced_at);
