-- name: by_label
SELECT l.name, used.posts, count(*) OVER ()
  FROM (SELECT bl.label_id, count(*) AS posts
          FROM bookmark AS b
          JOIN bookmark_label AS bl ON bl.account_id = :account_id AND bl.number = b.number
         WHERE b.account_id = :account_id
           AND {filters}
         GROUP BY bl.label_id) AS used
  JOIN label AS l ON l.account_id = :account_id AND l.label_id = used.label_id
 ORDER BY used.posts DESC, l.name_key
 LIMIT :limit

-- name: numbered
SELECT c.number, c.rendering
  FROM content AS c
 WHERE c.account_id = :account_id
   AND c.number = ANY(CAST(:numbers AS bigint[]))
