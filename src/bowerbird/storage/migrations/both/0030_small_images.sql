-- compatible: yes
-- The small rendition of an image that its network has, which lists load: its URL, and its file.
ALTER TABLE media_source ADD COLUMN small_url TEXT NOT NULL DEFAULT '';
ALTER TABLE media_source ADD COLUMN small_id TEXT;
CREATE INDEX media_source_by_small ON media_source (account_id, small_id) WHERE small_id IS NOT NULL;
