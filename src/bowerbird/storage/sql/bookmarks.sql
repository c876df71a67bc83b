-- name: by_post_id
SELECT c.rendering, c.tags, b.is_read, b.is_archived
  FROM bookmark AS b
  JOIN content AS c ON {content}
 WHERE b.account_id = :account_id
   AND b.post_id = :post_id

-- name: page
-- Walks an index in the wanted order and takes the contents along.
SELECT c.rendering, c.tags, b.is_read, b.is_archived, {sort} AS sort_value, b.number
  FROM bookmark AS b
  JOIN content AS c ON {content}
 WHERE b.account_id = :account_id
   AND {filters}
 ORDER BY {sort} {direction}, b.number {direction}
 LIMIT :limit

-- name: keys
-- The same page without contents: where rows must be sorted, only narrow ones are.
SELECT {sort} AS sort_value, b.number
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND {filters}
 ORDER BY {sort} {direction}, b.number {direction}
 LIMIT :limit

-- name: count
SELECT count(*)
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND {filters}
