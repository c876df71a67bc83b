-- name: posts
-- CROSS JOIN makes SQLite start with the list.
SELECT b.post_id, b.number, b.is_read, b.is_archived, c.tags
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

-- name: set_tags
UPDATE content SET tags = :tags WHERE place = :place + :number

-- name: remove_content
DELETE FROM content WHERE place = :place + :number

-- name: remove_words
DELETE FROM keyword WHERE rowid = :place + :number
