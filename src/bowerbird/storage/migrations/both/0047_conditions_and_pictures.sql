-- compatible: yes
-- When a label was last changed itself, and when digest preferences were: for If-Unmodified-Since.
-- NULL for a label that nobody has changed since this release.
ALTER TABLE label ADD COLUMN updated_at bigint;
ALTER TABLE digest_preference ADD COLUMN updated_at bigint NOT NULL DEFAULT 0;

-- The same number for posts with the same pictures; NULL if a post has none.
ALTER TABLE bookmark ADD COLUMN picture_print bigint;

CREATE INDEX bookmark_by_picture ON bookmark (account_id, picture_print, number)
 WHERE picture_print IS NOT NULL;
-- Posts that an earlier release stored, until a job has looked at them (model/traits.py). A node of
-- the previous release still needs bookmark_without_traits.
CREATE INDEX bookmark_without_pictures ON bookmark (account_id, number) WHERE media & 524288 = 0;
