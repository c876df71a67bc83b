-- name: by_hour
SELECT span.number - 1, (b.bookmarked_at + span.shift) / 3600000000 % 168, count(*),
       count(*) FILTER (WHERE b.is_read)
  FROM unnest(CAST(:starts AS bigint[]), CAST(:ends AS bigint[]), CAST(:shifts AS bigint[]))
       WITH ORDINALITY AS span (first, after, shift, number)
  JOIN bookmark AS b
    ON b.account_id = :account_id AND b.bookmarked_at >= span.first AND b.bookmarked_at < span.after
 GROUP BY 1, 2
