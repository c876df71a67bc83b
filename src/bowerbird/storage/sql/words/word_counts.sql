-- name: is_pending
SELECT EXISTS (SELECT 1 FROM word_change AS p WHERE p.account_id = :account_id)

-- name: add_later
INSERT INTO word_change (account_id, number, changes)
SELECT CAST(:account_id AS bigint), coalesce(max(p.number), 0) + 1, CAST(:changes AS text)
  FROM word_change AS p
 WHERE p.account_id = :account_id

-- name: next_pending
SELECT p.number, p.changes
  FROM word_change AS p
 WHERE p.account_id = :account_id
 ORDER BY p.number
 LIMIT 1

-- name: delete_pending
DELETE FROM word_change
 WHERE account_id = :account_id
   AND number = :number

-- name: delete_absent
DELETE FROM word_count
 WHERE account_id = :account_id
   AND word = ANY(CAST(:words AS text[]))
   AND posts <= 0

-- name: uncounted
-- The first posts whose words have an old form, and the size of each. Content can be lost.
SELECT b.number, coalesce(length(c.rendering), 0)
  FROM bookmark AS b INDEXED BY bookmark_of_older_form
  LEFT JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
 WHERE b.account_id = :account_id
   AND b.word_form < 4
 ORDER BY b.number
 LIMIT :limit

-- name: without_readings
-- The next Japanese posts whose words were written without readings, along the index.
SELECT b.sort_index, b.number, coalesce(length(c.rendering), 0)
  FROM bookmark AS b INDEXED BY bookmark_by_language
  LEFT JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
 WHERE b.account_id = :account_id
   AND b.language = 'ja'
   AND (b.sort_index, b.number) > (CAST(:sort_index AS bigint), CAST(:number AS bigint))
   AND b.word_form < :word_form
 ORDER BY b.sort_index, b.number
 LIMIT :limit

-- name: japanese_accounts
-- Accounts with posts in Japanese: one look at the index per account.
SELECT l.account_id
  FROM library AS l
 WHERE l.account_id > :after
   AND (SELECT b.number
          FROM bookmark AS b INDEXED BY bookmark_by_language
         WHERE b.account_id = l.account_id
           AND b.language = 'ja'
         ORDER BY b.sort_index
         LIMIT 1) IS NOT NULL
 ORDER BY l.account_id
 LIMIT :limit

-- name: lacks_readings
SELECT b.number
  FROM bookmark AS b INDEXED BY bookmark_by_language
 WHERE b.account_id = :account_id
   AND b.language = 'ja'
   AND b.word_form < :word_form
 ORDER BY b.sort_index, b.number
 LIMIT 1

-- name: uncounted_posts
SELECT b.number, b.content_hash, b.media, c.rendering
  FROM bookmark AS b
  LEFT JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
 WHERE b.account_id = :account_id
   AND b.number = ANY(CAST(:numbers AS bigint[]))
   AND b.word_form < :word_form

-- name: still_uncounted
SELECT b.number, b.content_hash
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND b.number = ANY(CAST(:numbers AS bigint[]))
   AND b.word_form < :word_form

-- name: renderings
-- Of the posts among these whose words are counted.
SELECT c.rendering
  FROM bookmark AS b
  LEFT JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
 WHERE b.account_id = :account_id
   AND b.number = ANY(CAST(:numbers AS bigint[]))
   AND b.word_form >= :word_form

-- name: counted_posts
-- By number, after a given one.
SELECT b.number, c.rendering
  FROM bookmark AS b
  LEFT JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
 WHERE b.account_id = :account_id
   AND b.number > :after
   AND b.word_form >= :word_form
 ORDER BY b.number
 LIMIT :limit
