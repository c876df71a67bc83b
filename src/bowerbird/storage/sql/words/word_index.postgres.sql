-- name: holders
-- The numbers of the posts that match each query, separated by commas.
SELECT query.position - 1, (SELECT string_agg(CAST(k.number AS text), ',') FROM keyword AS k
                             WHERE k.account_id = CAST(:account_id AS bigint)
                               AND k.words @@ CAST(query.text AS tsquery))
  FROM unnest(CAST(:queries AS text[])) WITH ORDINALITY AS query (text, position)

-- name: occurrences
-- ts_rank tells how often a post has a word, and with 2 it divides by the length of the post. It reads
-- the words of a post from the disk for each of its calls, unless they were put together just now.
WITH post AS MATERIALIZED
     (SELECT k.number, k.words || CAST('' AS tsvector) AS words
        FROM keyword AS k
       WHERE k.account_id = CAST(:account_id AS bigint)
         AND k.number = ANY(CAST(:numbers AS bigint[]))),
     every AS MATERIALIZED (SELECT CAST(CAST(:any_word AS text) AS tsquery) AS query)
SELECT p.number,
       ARRAY(SELECT ts_rank(CAST(ARRAY[1, 1, 1, 1] AS real[]), p.words, word.query, 0)
               FROM unnest(CAST(CAST(:words AS text[]) AS tsquery[]))
                    WITH ORDINALITY AS word (query, position)
              ORDER BY word.position),
       ts_rank(CAST(ARRAY[1, 1, 1, 1] AS real[]), p.words, every.query, 0),
       ts_rank(CAST(ARRAY[1, 1, 1, 1] AS real[]), p.words, every.query, 2)
  FROM post AS p CROSS JOIN every
 WHERE p.words @@ every.query
