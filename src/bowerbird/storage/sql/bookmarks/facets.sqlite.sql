-- name: by_label
-- CROSS JOIN makes SQLite start with the posts, and count numbers before it reads names.
SELECT l.name, used.posts, count(*) OVER ()
  FROM (SELECT bl.label_id, count(*) AS posts
          FROM bookmark AS b
          CROSS JOIN bookmark_label AS bl ON bl.account_id = :account_id AND bl.number = b.number
         WHERE b.account_id = :account_id
           AND {filters}
         GROUP BY bl.label_id) AS used
  CROSS JOIN label AS l ON l.account_id = :account_id AND l.label_id = used.label_id
 ORDER BY used.posts DESC, l.name_key
 LIMIT :limit

-- name: numbered
SELECT wanted.value, c.rendering
  FROM json_each(:numbers) AS wanted
  CROSS JOIN content AS c ON c.place = :place + wanted.value
