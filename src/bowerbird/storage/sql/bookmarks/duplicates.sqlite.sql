-- name: posts_by_text
-- The first posts of each group. CROSS JOIN makes SQLite start with the groups.
SELECT m.print, m.number, m.post_id, m.link_print, m.text_print
  FROM (SELECT d.text_print AS print, d.number AS number, d.post_id AS post_id,
               d.link_print AS link_print, d.text_print AS text_print,
               row_number() OVER (PARTITION BY d.text_print ORDER BY d.number) AS place
          FROM json_each(:prints) AS wanted
          CROSS JOIN bookmark AS d INDEXED BY bookmark_by_text
                  ON d.account_id = :account_id AND d.text_print = wanted.value) AS m
 WHERE m.place <= :most
 ORDER BY m.print, m.number

-- name: posts_by_link
SELECT m.print, m.number, m.post_id, m.link_print, m.text_print
  FROM (SELECT d.link_print AS print, d.number AS number, d.post_id AS post_id,
               d.link_print AS link_print, d.text_print AS text_print,
               row_number() OVER (PARTITION BY d.link_print ORDER BY d.number) AS place
          FROM json_each(:prints) AS wanted
          CROSS JOIN bookmark AS d INDEXED BY bookmark_by_link
                  ON d.account_id = :account_id AND d.link_print = wanted.value) AS m
 WHERE m.place <= :most
 ORDER BY m.print, m.number

-- name: posts_by_picture
SELECT m.print, m.number, m.post_id, m.link_print, m.text_print
  FROM (SELECT d.picture_print AS print, d.number AS number, d.post_id AS post_id,
               d.link_print AS link_print, d.text_print AS text_print,
               row_number() OVER (PARTITION BY d.picture_print ORDER BY d.number) AS place
          FROM json_each(:prints) AS wanted
          CROSS JOIN bookmark AS d INDEXED BY bookmark_by_picture
                  ON d.account_id = :account_id AND d.picture_print = wanted.value) AS m
 WHERE m.place <= :most
 ORDER BY m.print, m.number

-- name: prints
SELECT d.post_id, d.text_print, d.link_print, d.picture_print
  FROM json_each(:post_ids) AS wanted
  CROSS JOIN bookmark AS d ON d.account_id = :account_id AND d.post_id = wanted.value
