-- name: put_replaced
INSERT INTO replaced_annotation (account_id, post_id, annotation_id, content, replaced_at)
VALUES (:account_id, :post_id, :annotation_id, :content, :replaced_at)
    ON CONFLICT (account_id, post_id, annotation_id) DO UPDATE
   SET content = excluded.content, replaced_at = excluded.replaced_at

-- name: drop_oldest
-- The subquery is NULL if there are not more than these many.
DELETE FROM replaced_annotation
 WHERE account_id = :account_id
   AND replaced_at < (SELECT r.replaced_at
                        FROM replaced_annotation AS r
                       WHERE r.account_id = :account_id
                       ORDER BY r.replaced_at DESC
                       LIMIT 1 OFFSET :limit - 1)

-- name: take_replaced
DELETE FROM replaced_annotation
 WHERE account_id = :account_id
   AND post_id = :post_id
   AND annotation_id = :annotation_id
   AND replaced_at >= :oldest
RETURNING content

-- name: not_again
SELECT l.not_again
  FROM library AS l
 WHERE l.account_id = :account_id

-- name: set_not_again
UPDATE library
   SET not_again = :numbers
 WHERE account_id = :account_id

-- name: accounts_with_expired
SELECT DISTINCT r.account_id
  FROM replaced_annotation AS r
 WHERE r.replaced_at < :before
 LIMIT :limit

-- name: delete_expired
-- At most as many rows as an account may have.
DELETE FROM replaced_annotation
 WHERE account_id = :account_id
   AND replaced_at < :before

-- name: accounts_to_index
SELECT DISTINCT u.account_id
  FROM unindexed_note AS u
 LIMIT :limit

-- name: first_to_index
SELECT u.number
  FROM unindexed_note AS u
 WHERE u.account_id = :account_id
 ORDER BY u.number
 LIMIT :limit

-- name: delete_indexed
DELETE FROM unindexed_note
 WHERE account_id = :account_id
   AND number <= :last
