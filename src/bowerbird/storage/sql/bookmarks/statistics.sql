-- name: first_saved
SELECT min(b.bookmarked_at)
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND b.bookmarked_at >= :start

-- name: by_author
-- With one post per author, from which the name is read, and the number of all authors.
SELECT max(b.number), count(*), count(*) OVER ()
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND b.bookmarked_at >= :start
   AND b.bookmarked_at < :end
   AND b.author_key <> ''
 GROUP BY b.author_key
 ORDER BY count(*) DESC, b.author_key
 LIMIT :limit

-- name: labelled
SELECT count(*)
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND b.bookmarked_at >= :start
   AND b.bookmarked_at < :end
   AND EXISTS (SELECT 1
                 FROM bookmark_label AS bl
                WHERE bl.account_id = :account_id
                  AND bl.number = b.number)

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
  JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
 WHERE b.account_id = :account_id
   AND b.bookmarked_at >= :start
   AND (b.bookmarked_at, b.number) < (:before, :before_number)
 ORDER BY b.bookmarked_at DESC, b.number DESC
 LIMIT :limit

-- name: numbered
SELECT b.number, c.rendering
  FROM bookmark AS b
  JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
 WHERE b.account_id = :account_id
   AND b.number = ANY(CAST(:numbers AS bigint[]))
