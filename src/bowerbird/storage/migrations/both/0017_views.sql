-- compatible: yes
-- The place of a Smart View in the list, from 1, and whether the sidebar shows it. The previous
-- release creates views at 0; they get a place with the next change of a view.
ALTER TABLE smart_view ADD COLUMN position integer NOT NULL DEFAULT 0;
ALTER TABLE smart_view ADD COLUMN is_pinned boolean NOT NULL DEFAULT true;

UPDATE smart_view
   SET position = (SELECT count(*)
                     FROM smart_view AS o
                    WHERE o.account_id = smart_view.account_id
                      AND (o.created_at < smart_view.created_at
                           OR (o.created_at = smart_view.created_at AND o.slug <= smart_view.slug)));

-- Deleted Smart Views as JSON, until their time to be restored is over.
CREATE TABLE deleted_view (
    account_id bigint NOT NULL,
    slug       text   NOT NULL,
    view       text   NOT NULL,
    deleted_at bigint NOT NULL,
    PRIMARY KEY (account_id, slug)
) STRICT, WITHOUT ROWID;
CREATE INDEX deleted_view_by_age ON deleted_view (account_id, deleted_at);
