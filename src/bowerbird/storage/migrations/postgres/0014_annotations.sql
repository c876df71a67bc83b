-- compatible: yes
-- Posts whose notes earlier releases did not index. The service indexes them and removes the rows.
CREATE TABLE unindexed_note (
    account_id bigint NOT NULL,
    number     bigint NOT NULL,
    PRIMARY KEY (account_id, number)
);

INSERT INTO unindexed_note (account_id, number)
SELECT c.account_id, c.number
  FROM content AS c
 WHERE position(CAST('"note":' AS bytea) IN c.rendering) > 0;

-- Notes before their last change and highlights that were removed, so that it can be undone.
CREATE TABLE replaced_annotation (
    account_id    bigint NOT NULL,
    post_id       text   NOT NULL,
    -- note, or the id of a highlight
    annotation_id text   NOT NULL,
    content       bytea  NOT NULL,
    replaced_at   bigint NOT NULL,
    PRIMARY KEY (account_id, post_id, annotation_id)
);

CREATE INDEX replaced_annotation_by_date ON replaced_annotation (account_id, replaced_at);
