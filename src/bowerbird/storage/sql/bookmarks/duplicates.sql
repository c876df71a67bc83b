-- name: groups_by_text
-- Every text that several posts have, in the order of an index.
SELECT d.text_print, count(*)
  FROM bookmark AS d
 WHERE d.account_id = :account_id
   AND d.text_print > :after
 GROUP BY d.text_print
HAVING count(*) > 1
 ORDER BY d.text_print
 LIMIT :limit

-- name: groups_by_link
SELECT d.link_print, count(*)
  FROM bookmark AS d
 WHERE d.account_id = :account_id
   AND d.link_print > :after
 GROUP BY d.link_print
HAVING count(*) > 1
 ORDER BY d.link_print
 LIMIT :limit

-- name: groups_by_picture
SELECT d.picture_print, count(*)
  FROM bookmark AS d
 WHERE d.account_id = :account_id
   AND d.picture_print > :after
 GROUP BY d.picture_print
HAVING count(*) > 1
 ORDER BY d.picture_print
 LIMIT :limit
