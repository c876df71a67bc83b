-- name: keys_of_few
-- The plus sign hides the indexes of the order, so that SQLite starts with those of the filter.
SELECT {sort} AS sort_value, b.number
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND {filters}
 ORDER BY +{sort} {direction}, b.number {direction}
 LIMIT :limit

-- name: keys_by_number
-- Reads the numbers in the direction of the list, so that the posts imported first come last and
-- are dropped at once; otherwise every post displaces one. LIMIT keeps SQLite from ignoring the
-- inner order.
SELECT p.sort_value, p.number
  FROM (SELECT {sort} AS sort_value, b.number AS number
          FROM bookmark AS b
         WHERE b.account_id = :account_id
           AND {filters}
         ORDER BY b.number {direction}
         LIMIT -1) AS p
 ORDER BY p.sort_value {direction}, p.number {direction}
 LIMIT :limit

-- name: filter_wanted_of_many
-- The plus sign keeps SQLite from looking up each hit: it reads an index with the flags instead.
+b.number IN (SELECT rowid - :place FROM keyword
               WHERE keyword MATCH :wanted AND rowid BETWEEN :place AND :place_end)
