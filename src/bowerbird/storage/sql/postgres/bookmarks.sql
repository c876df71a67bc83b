-- name: content
c.account_id = b.account_id AND c.number = b.number

-- name: contents
SELECT c.rendering, c.tags, {state}, b.number
  FROM bookmark AS b
  JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
 WHERE b.account_id = :account_id
   AND b.number = ANY(CAST(:numbers AS bigint[]))

-- name: filter_wanted
b.number IN (SELECT k.number FROM keyword AS k
              WHERE k.account_id = CAST(:account_id AS bigint)
                AND k.words @@ CAST(CAST(:wanted AS text) AS tsquery))

-- name: filter_unwanted
b.number NOT IN (SELECT k.number FROM keyword AS k
                  WHERE k.account_id = CAST(:account_id AS bigint)
                    AND k.words @@ CAST(CAST(:unwanted AS text) AS tsquery))

-- name: ranked
-- The best thousand, best first.
SELECT b.number
  FROM keyword AS k
  JOIN bookmark AS b ON b.account_id = k.account_id AND b.number = k.number
 WHERE k.account_id = CAST(:account_id AS bigint)
   AND b.account_id = CAST(:account_id AS bigint)
   AND k.words @@ CAST(CAST(:wanted AS text) AS tsquery)
   AND {filters}
 ORDER BY ts_rank_cd(k.words, CAST(CAST(:wanted AS text) AS tsquery), 1) DESC, b.number DESC
 LIMIT :limit
