-- name: posts
-- All ids of the demo have the same number of digits, so their order as texts is that of the numbers.
SELECT b.post_id
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND b.post_id BETWEEN :first AND :last
 ORDER BY b.post_id
 LIMIT :limit

-- name: empty_trash
DELETE FROM trash
 WHERE account_id = :account_id
   AND post_id BETWEEN :first AND :last

-- name: forget_deletions
DELETE FROM deletion
 WHERE account_id = :account_id
   AND post_id BETWEEN :first AND :last

-- name: unused_labels
-- Labels that were created between two instants and have no posts.
SELECT l.label_id
  FROM label AS l
 WHERE l.account_id = :account_id
   AND l.created_at BETWEEN :first AND :last
   AND l.bookmark_count = 0
