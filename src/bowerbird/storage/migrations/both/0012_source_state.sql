-- compatible: yes
-- A post that its source lists and does not show any more. If the library does not have the post,
-- this is all that is known of it; its index of X gives it its place if another source has it.
ALTER TABLE source_post ADD COLUMN gone_at bigint;
ALTER TABLE source_post ADD COLUMN gone_reason text NOT NULL DEFAULT '';
ALTER TABLE source_post ADD COLUMN sort_index bigint;

-- What to do with posts that are removed at their source: keep, hide or trash.
ALTER TABLE library ADD COLUMN removed_posts text NOT NULL DEFAULT 'keep';
