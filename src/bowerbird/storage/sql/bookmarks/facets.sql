-- name: by_author
-- With one post per author, from which the name is read, and the number of all authors.
SELECT max(b.number), count(*), count(*) OVER ()
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND {filters}
   AND b.author_key <> ''
 GROUP BY b.author_key
 ORDER BY count(*) DESC, b.author_key
 LIMIT :limit

-- name: by_language
SELECT b.language, count(*)
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND {filters}
   AND b.language <> ''
 GROUP BY b.language
 ORDER BY count(*) DESC, b.language

-- name: by_quarter
-- Every time zone is ahead of UTC by a number of quarters of an hour.
SELECT b.bookmarked_at / 900000000, count(*)
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND {filters}
 GROUP BY b.bookmarked_at / 900000000

-- name: by_network
SELECT b.media & {networks}, count(*)
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND {filters}
 GROUP BY b.media & {networks}

-- name: by_media
SELECT {media}
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND {filters}

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
SELECT b.number, c.rendering
  FROM bookmark AS b
  JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
 WHERE b.account_id = :account_id
   AND b.number = ANY(CAST(:numbers AS bigint[]))
   AND length(c.rendering) <= CAST(:most_bytes AS bigint)
