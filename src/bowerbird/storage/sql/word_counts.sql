-- name: total
SELECT w.posts
  FROM word_count AS w
 WHERE w.account_id = :account_id
   AND w.word = ''

-- name: stored
SELECT w.word, w.posts
  FROM word_count AS w
 WHERE w.account_id = :account_id
