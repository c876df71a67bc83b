-- name: changes_of_posts
SELECT c.number, c.run, c.change
  FROM import_change AS c
 WHERE c.account_id = :account_id
   AND c.number = ANY(CAST(:numbers AS bigint[]))
   AND c.run > :after
   AND length(c.change) > 0
 ORDER BY c.number, c.run

-- name: forget_posts
-- An empty change: the post stays when the run is undone, and is counted.
UPDATE import_change
   SET change = :nothing
 WHERE account_id = :account_id
   AND number = ANY(CAST(:numbers AS bigint[]))
   AND run < CAST(:before AS bigint)

-- name: posts
SELECT b.post_id, b.number, b.content_hash, b.sort_index, b.imported_at, b.bookmarked_at,
       b.is_read, b.is_archived, b.completeness, b.order_source, c.rendering
  FROM bookmark AS b
  JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
 WHERE b.account_id = :account_id
   AND b.number = ANY(CAST(:numbers AS bigint[]))

-- name: labels_of_posts
SELECT bl.number, bl.label_id
  FROM bookmark_label AS bl
 WHERE bl.account_id = :account_id
   AND bl.number = ANY(CAST(:numbers AS bigint[]))
 ORDER BY bl.number, bl.label_id
