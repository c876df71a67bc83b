-- name: posts
-- CROSS JOIN makes SQLite start with the list.
SELECT b.post_id, b.number, b.is_read, b.is_archived, c.tags
  FROM json_each(:post_ids) AS wanted
  CROSS JOIN bookmark AS b ON b.account_id = :account_id AND b.post_id = wanted.value
  CROSS JOIN content AS c ON c.place = :place + b.number

-- name: posts_with_sizes
-- length() does not read a long value.
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

-- name: sizes_of_label
SELECT bl.number, length(c.rendering) + coalesce(length(c.tags), 0)
  FROM bookmark_label AS bl
  CROSS JOIN content AS c ON c.place = :place + bl.number
 WHERE bl.account_id = :account_id
   AND bl.label_id = :label_id
   AND bl.number > :after
 ORDER BY bl.number
 LIMIT :limit

-- name: set_tags
UPDATE content SET tags = :tags WHERE place = :place + :number

-- name: remove_bookmarks
DELETE FROM bookmark
 WHERE account_id = :account_id
   AND number IN (SELECT gone.value FROM json_each(:numbers) AS gone)

-- name: remove_content
DELETE FROM content
 WHERE place IN (SELECT :place + gone.value FROM json_each(:numbers) AS gone)

-- name: remove_words
DELETE FROM keyword
 WHERE rowid IN (SELECT :place + gone.value FROM json_each(:numbers) AS gone)

-- name: uncount_vectors
-- Stale vectors are not counted.
UPDATE vector_store
   SET embedded = embedded - (SELECT count(*)
                                FROM json_each(:numbers) AS gone
                                CROSS JOIN vector AS v
                                        ON v.account_id = :account_id AND v.number = gone.value
                                       AND v.model = vector_store.model
                               WHERE length(v.text_hash) > 0)
 WHERE account_id = :account_id

-- name: remove_vectors
DELETE FROM vector
 WHERE account_id = :account_id
   AND number IN (SELECT gone.value FROM json_each(:numbers) AS gone)
