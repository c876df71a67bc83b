-- name: holders
-- The numbers of the posts that match each query, separated by commas.
SELECT query.position - 1, (SELECT string_agg(CAST(k.number AS text), ',') FROM keyword AS k
                             WHERE k.account_id = CAST(:account_id AS bigint)
                               AND k.words @@ CAST(query.text AS tsquery))
  FROM unnest(CAST(:queries AS text[])) WITH ORDINALITY AS query (text, position)

-- name: occurrences
-- ts_rank tells how often a post has a word, and with 2 it divides by the length of the post.
WITH word AS MATERIALIZED
     (SELECT CAST(word.text AS tsquery) AS query, word.position
        FROM unnest(CAST(:words AS text[])) WITH ORDINALITY AS word (text, position)),
     every AS MATERIALIZED (SELECT CAST(CAST(:any_word AS text) AS tsquery) AS query)
SELECT k.number,
       array_agg(ts_rank(CAST(ARRAY[1, 1, 1, 1] AS real[]), k.words, word.query, 0)
                 ORDER BY word.position),
       max(ts_rank(CAST(ARRAY[1, 1, 1, 1] AS real[]), k.words, every.query, 0)),
       max(ts_rank(CAST(ARRAY[1, 1, 1, 1] AS real[]), k.words, every.query, 2))
  FROM keyword AS k CROSS JOIN every CROSS JOIN word
 WHERE k.account_id = CAST(:account_id AS bigint)
   AND k.number = ANY(CAST(:numbers AS bigint[]))
   AND k.words @@ every.query
 GROUP BY k.number
