-- name: known
-- CROSS JOIN makes SQLite start with the list; otherwise it would scan the whole account.
SELECT b.post_id, b.number, b.content_hash, b.sort_index, b.imported_at, b.bookmarked_at,
       b.is_read, b.is_archived, b.completeness, b.order_source, c.tags
  FROM json_each(:post_ids) AS wanted
  CROSS JOIN bookmark AS b ON b.account_id = :account_id AND b.post_id = wanted.value
  CROSS JOIN content AS c ON c.place = :place + b.number

-- name: known_posts
-- CROSS JOIN makes SQLite start with the list; otherwise it would scan the whole account.
SELECT b.post_id, b.number, b.content_hash, b.sort_index, b.imported_at, b.bookmarked_at,
       b.is_read, b.is_archived, b.completeness, b.order_source, c.tags, c.rendering
  FROM json_each(:post_ids) AS wanted
  CROSS JOIN bookmark AS b ON b.account_id = :account_id AND b.post_id = wanted.value
  CROSS JOIN content AS c ON c.place = :place + b.number

-- name: renderings
SELECT wanted.value, c.rendering
  FROM json_each(:numbers) AS wanted
  CROSS JOIN content AS c ON c.place = :place + wanted.value

-- name: put_content
INSERT INTO content (place, render_version, tags, rendering)
VALUES (:place + :number, :render_version, :tags, :rendering)
    ON CONFLICT (place) DO UPDATE
   SET render_version = excluded.render_version,
       tags = excluded.tags,
       rendering = excluded.rendering

-- name: set_rendering
UPDATE content
   SET rendering = :rendering
 WHERE place = :place + :number

-- name: drop_words
DELETE FROM keyword WHERE rowid = :place + :number

-- name: put_words
-- One statement for all posts: FTS5 writes its words to the file before each statement of several
-- rows.
INSERT INTO keyword (rowid, words)
SELECT :place + CAST(post.key AS INTEGER), post.value
  FROM json_each(:words) AS post
