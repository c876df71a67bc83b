-- name: known
-- LIMIT makes PostgreSQL look each post up in the index. Otherwise it keeps the plan that it made while
-- the table was empty, and reads all of it for each chunk of an import.
SELECT found.*
  FROM unnest(CAST(:post_ids AS text[])) AS wanted (post_id)
 CROSS JOIN LATERAL (
        SELECT b.post_id, b.number, b.content_hash, b.sort_index, b.imported_at, b.bookmarked_at,
               b.is_read, b.is_archived, b.completeness, b.order_source, c.tags
          FROM bookmark AS b
          JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
         WHERE b.account_id = :account_id
           AND b.post_id = wanted.post_id
         LIMIT 1) AS found

-- name: known_posts
SELECT found.*
  FROM unnest(CAST(:post_ids AS text[])) AS wanted (post_id)
 CROSS JOIN LATERAL (
        SELECT b.post_id, b.number, b.content_hash, b.sort_index, b.imported_at, b.bookmarked_at,
               b.is_read, b.is_archived, b.completeness, b.order_source, c.tags, c.rendering
          FROM bookmark AS b
          JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
         WHERE b.account_id = :account_id
           AND b.post_id = wanted.post_id
         LIMIT 1) AS found

-- name: renderings
SELECT c.number, c.rendering
  FROM content AS c
 WHERE c.account_id = :account_id
   AND c.number = ANY(CAST(:numbers AS bigint[]))

-- name: put_content
INSERT INTO content (account_id, number, render_version, tags, rendering)
VALUES (:account_id, :number, :render_version, :tags, :rendering)
    ON CONFLICT (account_id, number) DO UPDATE
   SET render_version = excluded.render_version,
       tags = excluded.tags,
       rendering = excluded.rendering

-- name: set_rendering
UPDATE content
   SET rendering = :rendering
 WHERE account_id = :account_id
   AND number = :number

-- name: drop_words
DELETE FROM keyword
 WHERE account_id = :account_id
   AND number = :number

-- name: put_words
INSERT INTO keyword (account_id, number, words)
SELECT CAST(:account_id AS bigint), CAST(post.key AS bigint), CAST(post.value AS tsvector)
  FROM json_each_text(CAST(:words AS json)) AS post
