-- name: counts
SELECT query.key, (SELECT count(*) FROM keyword
                    WHERE keyword MATCH query.value AND rowid BETWEEN :place AND :place_end)
  FROM json_each(:queries) AS query
