-- name: holders
-- The numbers of the posts that match each query, separated by commas.
SELECT query.key, (SELECT group_concat(rowid - :place) FROM keyword
                    WHERE keyword MATCH query.value AND rowid BETWEEN :place AND :place_end)
  FROM json_each(:queries) AS query

-- name: occurrences
-- The subtraction keeps SQLite from running the query once per number.
SELECT keyword.rowid - :place, occurrences(keyword, :counted)
  FROM keyword
 WHERE keyword MATCH :any_word
   AND keyword.rowid BETWEEN :place + :first AND :place + :last
   AND keyword.rowid - :place IN (SELECT wanted.value FROM json_each(:numbers) AS wanted)
