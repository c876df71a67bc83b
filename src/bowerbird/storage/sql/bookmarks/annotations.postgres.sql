-- name: highlight_count
SELECT coalesce(sum(json_array_length(h.found)), 0)
  FROM (SELECT CAST(convert_from(c.rendering, 'UTF8') || '}' AS json) -> 'highlights' AS found
          FROM content AS c
         WHERE c.account_id = CAST(:account_id AS bigint)
           AND position(CAST('\x22686967686c6967687473223a5b7b' AS bytea) IN c.rendering) > 0) AS h
 WHERE json_typeof(h.found) = 'array'

-- name: in_order_of_day
-- Reads both partial indexes only.
SELECT a.number
  FROM (SELECT c.number
          FROM content AS c
         WHERE c.account_id = CAST(:account_id AS bigint)
           AND position(CAST('\x226e6f7465223a22' AS bytea) IN c.rendering) > 0
         UNION
        SELECT c.number
          FROM content AS c
         WHERE c.account_id = CAST(:account_id AS bigint)
           AND position(CAST('\x22686967686c6967687473223a5b7b' AS bytea) IN c.rendering) > 0) AS a
 WHERE a.number <> ALL(CAST(:not_again AS bigint[]))
 ORDER BY (a.number + CAST(:shift AS bigint)) * CAST(:factor AS bigint) % CAST(:modulus AS bigint),
          a.number
 LIMIT :limit
