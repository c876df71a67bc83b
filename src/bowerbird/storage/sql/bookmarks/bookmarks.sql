-- name: state
-- Both flags as one number: one column less per bookmark to transfer.
CAST(b.is_read AS integer) + 2 * CAST(b.is_archived AS integer)

-- name: by_post_id
SELECT b.completeness, {rendered}, c.tags, {state}
  FROM bookmark AS b
  JOIN content AS c ON {content}
 WHERE b.account_id = :account_id
   AND b.post_id = :post_id

-- name: keys
-- A page without contents, so that only narrow rows have to be sorted.
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

-- name: post_ids
SELECT b.post_id
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND {filters}
 ORDER BY b.number
