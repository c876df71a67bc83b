-- name: by_hour
SELECT span.number - 1, (b.bookmarked_at + span.shift) / 3600000000 % 168, count(*),
       count(*) FILTER (WHERE b.is_read)
  FROM unnest(CAST(:starts AS bigint[]), CAST(:ends AS bigint[]), CAST(:shifts AS bigint[]))
       WITH ORDINALITY AS span (first, after, shift, number)
  JOIN bookmark AS b
    ON b.account_id = :account_id AND b.bookmarked_at >= span.first AND b.bookmarked_at < span.after
 GROUP BY 1, 2

-- name: by_label
SELECT l.name, used.posts
  FROM (SELECT bl.label_id, count(*) AS posts
          FROM bookmark AS b
          JOIN bookmark_label AS bl ON bl.account_id = :account_id AND bl.number = b.number
         WHERE b.account_id = :account_id
           AND b.bookmarked_at >= :start
           AND b.bookmarked_at < :end
         GROUP BY bl.label_id) AS used
  JOIN label AS l ON l.account_id = :account_id AND l.label_id = used.label_id
 ORDER BY used.posts DESC, l.name_key
 LIMIT :limit

-- name: newest
SELECT b.bookmarked_at, b.number, c.rendering
  FROM bookmark AS b
  JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
 WHERE b.account_id = :account_id
   AND b.bookmarked_at >= :start
   AND (b.bookmarked_at, b.number) < (:before, :before_number)
 ORDER BY b.bookmarked_at DESC, b.number DESC
 LIMIT :limit

-- name: numbered
SELECT c.number, c.rendering
  FROM content AS c
 WHERE c.account_id = :account_id
   AND c.number = ANY(CAST(:numbers AS bigint[]))
