-- name: known
SELECT b.post_id, b.number, b.content_hash, b.sort_index, b.imported_at, b.bookmarked_at,
       b.is_read, b.is_archived, c.tags
  FROM bookmark AS b
  JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
 WHERE b.account_id = :account_id
   AND b.post_id = ANY(CAST(:post_ids AS text[]))

-- name: put_content
INSERT INTO content (account_id, number, render_version, tags, rendering)
VALUES (:account_id, :number, :render_version, :tags, :rendering)
    ON CONFLICT (account_id, number) DO UPDATE
   SET render_version = excluded.render_version,
       tags = excluded.tags,
       rendering = excluded.rendering

-- name: drop_words
DELETE FROM keyword
 WHERE account_id = :account_id
   AND number = :number

-- name: put_words
INSERT INTO keyword (account_id, number, words)
VALUES (:account_id, :number, CAST(CAST(:words AS text) AS tsvector))
