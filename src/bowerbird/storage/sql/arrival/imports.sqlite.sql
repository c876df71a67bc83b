-- name: changes_of_posts
-- CROSS JOIN makes SQLite start with the list.
SELECT c.number, c.run, c.change
  FROM json_each(:numbers) AS wanted
  CROSS JOIN import_change AS c INDEXED BY import_change_by_bookmark
          ON c.account_id = :account_id AND c.number = wanted.value AND c.run > :after
          AND length(c.change) > 0
 ORDER BY c.number, c.run

-- name: forget_posts
-- An empty change: the post stays when the run is undone, and is counted.
-- Without the index, SQLite reads the whole log of the account.
UPDATE import_change INDEXED BY import_change_by_bookmark
   SET change = :nothing
 WHERE account_id = :account_id
   AND number IN (SELECT wanted.value FROM json_each(:numbers) AS wanted)
   AND run < :before

-- name: posts
SELECT b.post_id, b.number, b.content_hash, b.sort_index, b.imported_at, b.bookmarked_at,
       b.is_read, b.is_archived, b.completeness, b.order_source, c.rendering
  FROM json_each(:numbers) AS wanted
  CROSS JOIN bookmark AS b ON b.account_id = :account_id AND b.number = wanted.value
  CROSS JOIN content AS c ON c.place = :place + b.number

-- name: labels_of_posts
SELECT bl.number, bl.label_id
  FROM json_each(:numbers) AS wanted
  CROSS JOIN bookmark_label AS bl INDEXED BY bookmark_label_by_bookmark
          ON bl.account_id = :account_id AND bl.number = wanted.value
 ORDER BY bl.number, bl.label_id
