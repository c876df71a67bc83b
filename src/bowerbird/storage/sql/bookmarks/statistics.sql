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
