-- name: count_some
SELECT count(*)
  FROM (SELECT 1
          FROM keyword
         WHERE keyword MATCH :wanted
           AND keyword.rowid BETWEEN :place AND :place_end
         LIMIT :limit) AS some

-- name: are_all_counted
-- Whether `word_count` has every word of an account's posts.
SELECT NOT EXISTS (SELECT 1
                     FROM word_change AS p
                    WHERE p.account_id = :account_id)
   AND NOT EXISTS (SELECT 1
                     FROM bookmark AS b INDEXED BY bookmark_uncounted
                    WHERE b.account_id = :account_id
                      AND b.word_form < 2)

-- name: words_between
SELECT w.word, w.posts
  FROM word_count AS w
 WHERE w.account_id = :account_id
   AND w.word >= :first
   AND w.word < :after_last
 ORDER BY w.word
 LIMIT :limit

-- name: posts_of_all
-- At least: with many accounts, an estimate is enough.
SELECT coalesce(sum(some.total), 0)
  FROM (SELECT l.total FROM library AS l LIMIT 1000) AS some
