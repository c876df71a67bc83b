-- name: posts
SELECT b.post_id, b.number, b.is_read, b.is_archived, c.tags
  FROM bookmark AS b
  JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
 WHERE b.account_id = :account_id
   AND b.post_id = ANY(CAST(:post_ids AS text[]))

-- name: posts_of_label
SELECT b.post_id, b.number, b.is_read, b.is_archived, c.tags
  FROM bookmark_label AS bl
  JOIN bookmark AS b ON b.account_id = bl.account_id AND b.number = bl.number
  JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
 WHERE bl.account_id = :account_id
   AND bl.label_id = :label_id

-- name: set_tags
UPDATE content
   SET tags = :tags
 WHERE account_id = :account_id
   AND number = :number

-- name: remove_content
DELETE FROM content
 WHERE account_id = :account_id
   AND number = :number

-- name: remove_words
DELETE FROM keyword
 WHERE account_id = :account_id
   AND number = :number
