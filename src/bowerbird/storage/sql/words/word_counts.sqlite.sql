-- name: due_accounts
-- Jumps along the indexes to the accounts with changes to add, or with posts of an old form.
WITH RECURSIVE visited (account_id, steps) AS (
    SELECT (SELECT min(due.account_id)
             FROM (SELECT min(p.account_id) AS account_id
                     FROM word_change AS p
                    WHERE p.account_id > :after
                   UNION ALL
                   SELECT min(b.account_id)
                     FROM bookmark AS b INDEXED BY bookmark_of_older_form
                    WHERE b.account_id > :after
                      AND b.word_form < 4) AS due), 1
     UNION ALL
    SELECT (SELECT min(due.account_id)
             FROM (SELECT min(p.account_id) AS account_id
                     FROM word_change AS p
                    WHERE p.account_id > v.account_id
                   UNION ALL
                   SELECT min(b.account_id)
                     FROM bookmark AS b INDEXED BY bookmark_of_older_form
                    WHERE b.account_id > v.account_id
                      AND b.word_form < 4) AS due), v.steps + 1
      FROM visited AS v
     WHERE v.account_id IS NOT NULL
       AND v.steps < :limit)
SELECT v.account_id,
       EXISTS (SELECT 1
                 FROM job AS j
                WHERE j.account_id = v.account_id
                  AND j.kind = :job_kind
                  AND j.completed_at IS NULL)
  FROM visited AS v
 WHERE v.account_id IS NOT NULL
 ORDER BY v.account_id

-- name: of
-- CROSS JOIN makes SQLite start with the list.
SELECT w.word, w.posts
  FROM json_each(:words) AS wanted
  CROSS JOIN word_count AS w ON w.account_id = :account_id AND w.word = wanted.value

-- name: stored
SELECT one.word, sum(one.posts)
  FROM (SELECT w.word, w.posts
          FROM word_count AS w
         WHERE w.account_id = :account_id
        UNION ALL
        SELECT change.key, change.value
          FROM word_change AS p
          CROSS JOIN json_each(p.changes) AS change
         WHERE p.account_id = :account_id) AS one
 GROUP BY one.word
HAVING sum(one.posts) <> 0

-- name: add
INSERT INTO word_count (account_id, word, posts)
SELECT :account_id, change.key, change.value
  FROM json_each(:changes) AS change
 WHERE TRUE
    ON CONFLICT (account_id, word) DO UPDATE
   SET posts = posts + excluded.posts
