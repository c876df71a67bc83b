-- name: open
-- Locks the library's row until the commit: writers of one account come one after the other.
SELECT l.local_number, l.next_number, l.next_label_id
  FROM library AS l
 WHERE l.account_id = :account_id
   FOR UPDATE

-- name: labels_named
SELECT l.label_id, l.name, l.name_key, l.metadata, l.bookmark_count
  FROM label AS l
 WHERE l.account_id = :account_id
   AND l.name_key = ANY(CAST(:name_keys AS text[]))

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
