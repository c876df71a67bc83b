-- name: groups
-- Every text, link or picture that several posts have, in the order of an index.
SELECT d.{same}_print, count(*)
  FROM bookmark AS d
 WHERE d.account_id = :account_id
   AND d.{same}_print > :after
 GROUP BY d.{same}_print
HAVING count(*) > 1
 ORDER BY d.{same}_print
 LIMIT :limit

-- name: posts
SELECT m.print, m.number, m.post_id, m.link_print, m.text_print
  FROM (SELECT d.{same}_print AS print, d.number, d.post_id, d.link_print, d.text_print,
               row_number() OVER (PARTITION BY d.{same}_print ORDER BY d.number) AS place
          FROM bookmark AS d INDEXED BY bookmark_by_{same}
         WHERE d.account_id = :account_id
           AND d.{same}_print = ANY(CAST(:prints AS bigint[]))) AS m
 WHERE m.place <= :most
 ORDER BY m.print, m.number

-- name: prints
SELECT d.post_id, d.text_print, d.link_print, d.picture_print
  FROM bookmark AS d INDEXED BY bookmark_by_post
 WHERE d.account_id = :account_id
   AND d.post_id = ANY(CAST(:post_ids AS text[]))
