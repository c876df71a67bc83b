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
