-- name: engine
SELECT 'SQLite ' || sqlite_version(), c.page_count * s.page_size
  FROM pragma_page_count() AS c, pragma_page_size() AS s

-- name: has_words
EXISTS (SELECT 1 FROM keyword_docsize AS k WHERE k.id = :place + b.number)

-- name: label_names
(SELECT json_group_array(l.name)
   FROM bookmark_label AS bl
   JOIN label AS l ON l.account_id = bl.account_id AND l.label_id = bl.label_id
  WHERE bl.account_id = :account_id AND bl.number = b.number)

-- name: words_differ
-- The index stores no text, but it has the number of tokens of a row and matches phrases.
SELECT b.number
  FROM bookmark AS b
  JOIN keyword_docsize AS k ON k.id = :place + b.number
 WHERE b.account_id = :account_id
   AND b.number = :number
   AND b.content_hash = :content_hash
   AND (k.sz <> :token_count
        OR EXISTS (SELECT 1 FROM json_each(:phrases) AS phrase
                    WHERE NOT EXISTS (SELECT 1 FROM keyword
                                       WHERE keyword MATCH phrase.value
                                         AND keyword.rowid = :place + b.number)))

-- name: orphaned_contents
SELECT c.place - :place
  FROM content AS c
 WHERE c.place BETWEEN :place AND :place_end
   AND NOT EXISTS (SELECT 1 FROM bookmark AS b
                    WHERE b.account_id = :account_id AND b.number = c.place - :place)
 ORDER BY c.place

-- name: delete_orphaned_contents
DELETE FROM content
 WHERE place BETWEEN :place AND :place_end
   AND NOT EXISTS (SELECT 1 FROM bookmark AS b
                    WHERE b.account_id = :account_id AND b.number = content.place - :place)

-- name: orphaned_words
SELECT k.id - :place
  FROM keyword_docsize AS k
 WHERE k.id BETWEEN :place AND :place_end
   AND NOT EXISTS (SELECT 1 FROM bookmark AS b
                    WHERE b.account_id = :account_id AND b.number = k.id - :place)
 ORDER BY k.id

-- name: delete_orphaned_words
DELETE FROM keyword
 WHERE rowid IN (SELECT k.id
                   FROM keyword_docsize AS k
                  WHERE k.id BETWEEN :place AND :place_end
                    AND NOT EXISTS (SELECT 1 FROM bookmark AS b
                                     WHERE b.account_id = :account_id
                                       AND b.number = k.id - :place))

-- name: leftover_contents
SELECT count(*)
  FROM content AS c
 WHERE NOT EXISTS (SELECT 1 FROM local_account AS a WHERE a.local_number = c.place / :places)
   AND NOT EXISTS (SELECT 1 FROM library AS l WHERE l.local_number = c.place / :places)

-- name: delete_leftover_contents
DELETE FROM content
 WHERE place IN (SELECT c.place
                   FROM content AS c
                  WHERE NOT EXISTS (SELECT 1 FROM local_account AS a WHERE a.local_number = c.place / :places)
                    AND NOT EXISTS (SELECT 1 FROM library AS l WHERE l.local_number = c.place / :places)
                  LIMIT :limit)

-- name: leftover_words
SELECT count(*)
  FROM keyword_docsize AS k
 WHERE NOT EXISTS (SELECT 1 FROM local_account AS a WHERE a.local_number = k.id / :places)
   AND NOT EXISTS (SELECT 1 FROM library AS l WHERE l.local_number = k.id / :places)

-- name: delete_leftover_words
DELETE FROM keyword
 WHERE rowid IN (SELECT k.id
                   FROM keyword_docsize AS k
                  WHERE NOT EXISTS (SELECT 1 FROM local_account AS a WHERE a.local_number = k.id / :places)
                    AND NOT EXISTS (SELECT 1 FROM library AS l WHERE l.local_number = k.id / :places)
                  LIMIT :limit)
