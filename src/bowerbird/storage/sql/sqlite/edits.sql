-- name: open
-- The writer's transaction holds the whole file already.
SELECT l.local_number, l.next_number, l.next_label_id
  FROM library AS l
 WHERE l.account_id = :account_id

-- name: labels_named
-- CROSS JOIN keeps the order: the list first.
SELECT l.label_id, l.name, l.name_key, l.metadata, l.bookmark_count
  FROM json_each(:name_keys) AS wanted
  CROSS JOIN label AS l ON l.account_id = :account_id AND l.name_key = wanted.value

-- name: posts
-- CROSS JOIN keeps the order: the list first, whatever the planner makes of it.
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
