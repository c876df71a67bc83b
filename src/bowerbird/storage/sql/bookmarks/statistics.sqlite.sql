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
