-- name: counts
SELECT query.position - 1, (SELECT count(*) FROM keyword AS k
                             WHERE k.account_id = CAST(:account_id AS bigint)
                               AND k.words @@ CAST(query.text AS tsquery))
  FROM unnest(CAST(:queries AS text[])) WITH ORDINALITY AS query (text, position)
