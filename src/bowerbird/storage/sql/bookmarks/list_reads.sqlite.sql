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

-- name: keys_near
-- They were mostly saved together, so their numbers are near too, and FTS5 skips all other hits.
WITH near AS MATERIALIZED (
       SELECT {sort} AS sort_value, b.number AS number
         FROM bookmark AS b
        WHERE b.account_id = :account_id
          AND {filters}
        ORDER BY {sort} {direction}, b.number {direction}
        LIMIT :window)
SELECT n.sort_value, n.number
  FROM near AS n
 WHERE n.number IN (SELECT rowid - :place
                      FROM keyword
                     WHERE keyword MATCH :wanted
                       AND rowid BETWEEN (SELECT :place + min(number) FROM near)
                                     AND (SELECT :place + max(number) FROM near))
 ORDER BY n.sort_value {direction}, n.number {direction}
 LIMIT :limit

-- name: filter_walked_language
-- The plus sign hides the column from the index of languages.
+b.language = :language

-- name: filter_walked_languages
+b.language IN (SELECT wanted.value FROM json_each(:languages) AS wanted)

-- name: filter_wanted_of_many
-- The plus sign keeps SQLite from looking up each hit: it reads an index with the flags instead.
+b.number IN (SELECT rowid - :place FROM keyword
               WHERE keyword MATCH :wanted AND rowid BETWEEN :place AND :place_end)
