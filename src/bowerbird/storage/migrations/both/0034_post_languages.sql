-- compatible: yes
-- The language of a post, such as en: '' if it is unknown, NULL until a job has looked at a post that
-- an earlier release stored.
ALTER TABLE bookmark ADD COLUMN language text COLLATE "C";

CREATE INDEX bookmark_by_language
    ON bookmark (account_id, language, sort_index, number, is_read, is_archived);
