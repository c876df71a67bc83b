-- name: by_hour
-- CROSS JOIN makes SQLite start with the spans, and read each from the index.
SELECT span.key, (b.bookmarked_at + shift.value) / 3600000000 % 168, count(*),
       count(*) FILTER (WHERE b.is_read)
  FROM json_each(:starts) AS span
  CROSS JOIN json_each(:ends) AS after ON after.key = span.key
  CROSS JOIN json_each(:shifts) AS shift ON shift.key = span.key
  CROSS JOIN bookmark AS b
    ON b.account_id = :account_id AND b.bookmarked_at >= span.value AND b.bookmarked_at < after.value
 GROUP BY 1, 2

-- name: by_label
-- CROSS JOIN makes SQLite start with the posts of the span, and count numbers before it reads names.
SELECT l.name, used.posts
  FROM (SELECT bl.label_id, count(*) AS posts
          FROM bookmark AS b
          CROSS JOIN bookmark_label AS bl ON bl.account_id = :account_id AND bl.number = b.number
         WHERE b.account_id = :account_id
           AND b.bookmarked_at >= :start
           AND b.bookmarked_at < :end
         GROUP BY bl.label_id) AS used
  CROSS JOIN label AS l ON l.account_id = :account_id AND l.label_id = used.label_id
 ORDER BY used.posts DESC, l.name_key
 LIMIT :limit

-- name: newest
SELECT b.bookmarked_at, b.number, c.rendering
  FROM bookmark AS b
  CROSS JOIN content AS c ON c.place = :place + b.number
 WHERE b.account_id = :account_id
   AND b.bookmarked_at >= :start
   AND (b.bookmarked_at, b.number) < (:before, :before_number)
 ORDER BY b.bookmarked_at DESC, b.number DESC
 LIMIT :limit

-- name: numbered
SELECT wanted.value, c.rendering
  FROM json_each(:numbers) AS wanted
  CROSS JOIN content AS c ON c.place = :place + wanted.value
