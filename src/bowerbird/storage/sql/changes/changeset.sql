-- name: set_flags
UPDATE bookmark
   SET is_read = :is_read, is_archived = :is_archived
 WHERE account_id = :account_id
   AND number = :number

-- name: posts
SELECT b.post_id, b.number, b.is_read, b.is_archived, c.tags
  FROM bookmark AS b INDEXED BY bookmark_by_post
  JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
 WHERE b.account_id = :account_id
   AND b.post_id = ANY(CAST(:post_ids AS text[]))

-- name: posts_with_sizes
SELECT b.post_id, b.number, b.is_read, b.is_archived, c.tags,
       octet_length(c.rendering) + coalesce(octet_length(c.tags), 0)
  FROM bookmark AS b INDEXED BY bookmark_by_post
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

-- name: sizes_of_label
SELECT bl.number, octet_length(c.rendering) + coalesce(octet_length(c.tags), 0)
  FROM bookmark_label AS bl
  JOIN content AS c ON c.account_id = bl.account_id AND c.number = bl.number
 WHERE bl.account_id = :account_id
   AND bl.label_id = :label_id
   AND bl.number > :after
 ORDER BY bl.number
 LIMIT :limit

-- name: remove_bookmarks
DELETE FROM bookmark
 WHERE account_id = :account_id
   AND number = ANY(CAST(:numbers AS bigint[]))

-- name: uncount_vectors
-- Stale vectors are not counted.
UPDATE vector_store
   SET embedded = embedded - (SELECT count(*)
                                FROM vector AS v
                               WHERE v.account_id = :account_id
                                 AND v.number = ANY(CAST(:numbers AS bigint[]))
                                 AND v.model = vector_store.model
                                 AND length(v.text_hash) > 0)
 WHERE account_id = :account_id

-- name: remove_vectors
DELETE FROM vector
 WHERE account_id = :account_id
   AND number = ANY(CAST(:numbers AS bigint[]))
