-- name: engine
SELECT 'PostgreSQL ' || current_setting('server_version'), pg_database_size(current_database())

-- name: has_words
EXISTS (SELECT 1 FROM keyword AS k WHERE k.account_id = :account_id AND k.number = b.number)

-- name: label_names
(SELECT CAST(coalesce(json_agg(l.name), CAST('[]' AS json)) AS text)
   FROM bookmark_label AS bl
   JOIN label AS l ON l.account_id = bl.account_id AND l.label_id = bl.label_id
  WHERE bl.account_id = :account_id AND bl.number = b.number)

-- name: words_differ
SELECT b.number
  FROM bookmark AS b
  JOIN keyword AS k ON k.account_id = b.account_id AND k.number = b.number
 WHERE b.account_id = :account_id
   AND b.number = :number
   AND b.content_hash = :content_hash
   AND k.words <> CAST(CAST(:words AS text) AS tsvector)

-- name: orphaned_contents
SELECT c.number
  FROM content AS c
 WHERE c.account_id = :account_id
   AND NOT EXISTS (SELECT 1 FROM bookmark AS b
                    WHERE b.account_id = :account_id AND b.number = c.number)
 ORDER BY c.number

-- name: delete_orphaned_contents
DELETE FROM content
 WHERE account_id = :account_id
   AND NOT EXISTS (SELECT 1 FROM bookmark AS b
                    WHERE b.account_id = :account_id AND b.number = content.number)

-- name: orphaned_words
SELECT k.number
  FROM keyword AS k
 WHERE k.account_id = :account_id
   AND NOT EXISTS (SELECT 1 FROM bookmark AS b
                    WHERE b.account_id = :account_id AND b.number = k.number)
 ORDER BY k.number

-- name: delete_orphaned_words
DELETE FROM keyword
 WHERE account_id = :account_id
   AND NOT EXISTS (SELECT 1 FROM bookmark AS b
                    WHERE b.account_id = :account_id AND b.number = keyword.number)

-- name: leftover_contents
WITH person_id AS MATERIALIZED (SELECT p.account_id FROM person AS p)
SELECT count(*)
  FROM content AS c
 WHERE NOT EXISTS (SELECT 1 FROM person_id AS p WHERE p.account_id = c.account_id)
   AND NOT EXISTS (SELECT 1 FROM library AS l WHERE l.account_id = c.account_id)

-- name: delete_leftover_contents
WITH person_id AS MATERIALIZED (SELECT p.account_id FROM person AS p)
DELETE FROM content
 WHERE (account_id, number) IN (SELECT c.account_id, c.number
                                  FROM content AS c
                                 WHERE NOT EXISTS (SELECT 1 FROM person_id AS p WHERE p.account_id = c.account_id)
                                   AND NOT EXISTS (SELECT 1 FROM library AS l WHERE l.account_id = c.account_id)
                                 LIMIT :limit)

-- name: leftover_words
WITH person_id AS MATERIALIZED (SELECT p.account_id FROM person AS p)
SELECT count(*)
  FROM keyword AS k
 WHERE NOT EXISTS (SELECT 1 FROM person_id AS p WHERE p.account_id = k.account_id)
   AND NOT EXISTS (SELECT 1 FROM library AS l WHERE l.account_id = k.account_id)

-- name: delete_leftover_words
WITH person_id AS MATERIALIZED (SELECT p.account_id FROM person AS p)
DELETE FROM keyword
 WHERE (account_id, number) IN (SELECT k.account_id, k.number
                                  FROM keyword AS k
                                 WHERE NOT EXISTS (SELECT 1 FROM person_id AS p WHERE p.account_id = k.account_id)
                                   AND NOT EXISTS (SELECT 1 FROM library AS l WHERE l.account_id = k.account_id)
                                 LIMIT :limit)
