-- name: posts_by_text
SELECT m.print, m.number, m.post_id, m.link_print, m.text_print
  FROM (SELECT d.text_print AS print, d.number, d.post_id, d.link_print, d.text_print,
               row_number() OVER (PARTITION BY d.text_print ORDER BY d.number) AS place
          FROM bookmark AS d
         WHERE d.account_id = :account_id
           AND d.text_print = ANY(CAST(:prints AS bigint[]))) AS m
 WHERE m.place <= :most
 ORDER BY m.print, m.number

-- name: posts_by_link
SELECT m.print, m.number, m.post_id, m.link_print, m.text_print
  FROM (SELECT d.link_print AS print, d.number, d.post_id, d.link_print, d.text_print,
               row_number() OVER (PARTITION BY d.link_print ORDER BY d.number) AS place
          FROM bookmark AS d
         WHERE d.account_id = :account_id
           AND d.link_print = ANY(CAST(:prints AS bigint[]))) AS m
 WHERE m.place <= :most
 ORDER BY m.print, m.number

-- name: posts_by_picture
SELECT m.print, m.number, m.post_id, m.link_print, m.text_print
  FROM (SELECT d.picture_print AS print, d.number, d.post_id, d.link_print, d.text_print,
               row_number() OVER (PARTITION BY d.picture_print ORDER BY d.number) AS place
          FROM bookmark AS d
         WHERE d.account_id = :account_id
           AND d.picture_print = ANY(CAST(:prints AS bigint[]))) AS m
 WHERE m.place <= :most
 ORDER BY m.print, m.number

-- name: prints
SELECT d.post_id, d.text_print, d.link_print, d.picture_print
  FROM bookmark AS d
 WHERE d.account_id = :account_id
   AND d.post_id = ANY(CAST(:post_ids AS text[]))
