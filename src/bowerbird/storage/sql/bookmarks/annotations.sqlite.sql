-- name: highlight_count
SELECT coalesce(sum(json_array_length(h.post, '$.highlights')), 0)
  FROM (SELECT c.rendering || '}' AS post
          FROM content AS c
         WHERE c.place BETWEEN :place AND :place_end
           AND instr(c.rendering, x'22686967686c6967687473223a5b7b') > 0) AS h
 WHERE json_valid(h.post)

-- name: in_order_of_day
-- Reads both partial indexes only.
SELECT a.number
  FROM (SELECT c.place - :place AS number
          FROM content AS c
         WHERE c.place BETWEEN :place AND :place_end
           AND instr(c.rendering, x'226e6f7465223a22') > 0
         UNION
        SELECT c.place - :place AS number
          FROM content AS c
         WHERE c.place BETWEEN :place AND :place_end
           AND instr(c.rendering, x'22686967686c6967687473223a5b7b') > 0) AS a
 WHERE a.number NOT IN (SELECT left_out.value FROM json_each(:not_again) AS left_out)
 ORDER BY (a.number + :shift) * :factor % :modulus, a.number
 LIMIT :limit
