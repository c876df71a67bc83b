-- name: due_accounts
-- The accounts with changes to add, or with posts of an old form: those in the first entries of two
-- indexes, up to the account where the shorter part ends. The next page starts after it.
-- Not recursive as on SQLite, because Citus cannot run a recursive query for many accounts.
WITH changed AS (
    SELECT p.account_id
      FROM word_change AS p
     WHERE p.account_id > :after
     ORDER BY p.account_id
     LIMIT 1000),
old AS (
    SELECT b.account_id
      FROM bookmark AS b
     WHERE b.account_id > :after
       AND b.word_form < 4
     ORDER BY b.account_id
     LIMIT 1000),
ends AS (
    SELECT least(
        (SELECT max(c.account_id) FROM changed AS c HAVING count(*) = 1000),
        (SELECT max(o.account_id) FROM old AS o HAVING count(*) = 1000)) AS account_id)
SELECT due.account_id, busy.account_id IS NOT NULL
  FROM (SELECT c.account_id FROM changed AS c
         UNION
        SELECT o.account_id FROM old AS o) AS due
 CROSS JOIN ends
  LEFT JOIN (SELECT DISTINCT j.account_id
               FROM job AS j
              WHERE j.account_id > :after
                AND j.kind = :job_kind
                AND j.completed_at IS NULL) AS busy ON busy.account_id = due.account_id
 WHERE due.account_id <= coalesce(ends.account_id, due.account_id)
 ORDER BY due.account_id
 LIMIT :limit

-- name: of
SELECT w.word, w.posts
  FROM json_array_elements_text(CAST(:words AS json)) AS wanted (word)
  JOIN word_count AS w ON w.account_id = :account_id AND w.word = wanted.word

-- name: stored
SELECT one.word, CAST(sum(one.posts) AS bigint)
  FROM (SELECT w.word, w.posts
          FROM word_count AS w
         WHERE w.account_id = :account_id
        UNION ALL
        SELECT change.key, CAST(change.value AS bigint)
          FROM word_change AS p
          CROSS JOIN json_each_text(CAST(p.changes AS json)) AS change
         WHERE p.account_id = :account_id) AS one
 GROUP BY one.word
HAVING sum(one.posts) <> 0

-- name: add
INSERT INTO word_count (account_id, word, posts)
SELECT CAST(:account_id AS bigint), change.key, CAST(change.value AS bigint)
  FROM json_each_text(CAST(:changes AS json)) AS change
    ON CONFLICT (account_id, word) DO UPDATE
   SET posts = word_count.posts + excluded.posts
