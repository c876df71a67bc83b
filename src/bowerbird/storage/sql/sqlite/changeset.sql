-- name: posts
-- CROSS JOIN makes SQLite start with the list.
SELECT b.post_id, b.number, b.is_read, b.is_archived, c.tags
  FROM json_each(:post_ids) AS wanted
  CROSS JOIN bookmark AS b ON b.account_id = :account_id AND b.post_id = wanted.value
  CROSS JOIN content AS c ON c.place = :place + b.number

-- name: posts_with_sizes
SELECT b.post_id, b.number, b.is_read, b.is_archived, c.tags,
       length(c.rendering) + coalesce(length(c.tags), 0)
  FROM json_each(:post_ids) AS wanted
  CROSS JOIN bookmark AS b ON b.account_id = :account_id AND b.post_id = wanted.value
  CROSS JOIN content AS c ON c.place = :place + b.number

-- name: posts_of_label
SELECT b.post_id, b.number, b.is_read, b.is_archived, c.tags
  FROM bookmark_label AS bl
  CROSS JOIN bookmark AS b ON b.account_id = bl.account_id AND b.number = bl.number
  CROSS JOIN content AS c ON c.place = :place + b.number
 WHERE bl.account_id = :account_id
   AND bl.label_id = :label_id
   AND bl.number > :after
   AND bl.number <= :last

-- name: sizes
-- CROSS JOIN makes SQLite start with the list. length() does not read a long value.
SELECT b.post_id, length(c.rendering) + coalesce(length(c.tags), 0)
  FROM json_each(:post_ids) AS wanted
  CROSS JOIN bookmark AS b ON b.account_id = :account_id AND b.post_id = wanted.value
  CROSS JOIN content AS c ON c.place = :place + b.number

-- name: sizes_of_label
SELECT bl.number, length(c.rendering) + coalesce(length(c.tags), 0)
  FROM bookmark_label AS bl
  CROSS JOIN content AS c ON c.place = :place + bl.number
 WHERE bl.account_id = :account_id
   AND bl.label_id = :label_id
   AND bl.number > :after
 ORDER BY bl.number
 LIMIT :limit

-- name: full_posts
-- One of these posts that has all the labels it may have, and not this one.
SELECT b.post_id
  FROM json_each(:post_ids) AS wanted
  CROSS JOIN bookmark AS b ON b.account_id = :account_id AND b.post_id = wanted.value
 WHERE (SELECT count(*) FROM bookmark_label AS bl
         WHERE bl.account_id = :account_id AND bl.number = b.number) >= :most
   AND NOT EXISTS (SELECT 1 FROM bookmark_label AS bl
                    WHERE bl.account_id = :account_id AND bl.label_id = :label_id
                      AND bl.number = b.number)
 LIMIT 1

-- name: set_tags
UPDATE content SET tags = :tags WHERE place = :place + :number

-- name: remove_content
DELETE FROM content WHERE place = :place + :number

-- name: remove_words
DELETE FROM keyword WHERE rowid = :place + :number
