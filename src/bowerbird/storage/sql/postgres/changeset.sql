-- name: posts
SELECT b.post_id, b.number, b.is_read, b.is_archived, c.tags
  FROM bookmark AS b
  JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
 WHERE b.account_id = :account_id
   AND b.post_id = ANY(CAST(:post_ids AS text[]))

-- name: posts_with_sizes
SELECT b.post_id, b.number, b.is_read, b.is_archived, c.tags,
       octet_length(c.rendering) + coalesce(octet_length(c.tags), 0)
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
   AND bl.number > :after
   AND bl.number <= :last

-- name: sizes
SELECT b.post_id, octet_length(c.rendering) + coalesce(octet_length(c.tags), 0)
  FROM bookmark AS b
  JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
 WHERE b.account_id = :account_id
   AND b.post_id = ANY(CAST(:post_ids AS text[]))

-- name: sizes_of_label
SELECT bl.number, octet_length(c.rendering) + coalesce(octet_length(c.tags), 0)
  FROM bookmark_label AS bl
  JOIN content AS c ON c.account_id = bl.account_id AND c.number = bl.number
 WHERE bl.account_id = :account_id
   AND bl.label_id = :label_id
   AND bl.number > :after
 ORDER BY bl.number
 LIMIT :limit

-- name: full_posts
-- One of these posts that has all the labels it may have, and not this one.
SELECT b.post_id
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND b.post_id = ANY(CAST(:post_ids AS text[]))
   AND (SELECT count(*) FROM bookmark_label AS bl
         WHERE bl.account_id = :account_id AND bl.number = b.number) >= :most
   AND NOT EXISTS (SELECT 1 FROM bookmark_label AS bl
                    WHERE bl.account_id = :account_id AND bl.label_id = :label_id
                      AND bl.number = b.number)
 LIMIT 1

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
