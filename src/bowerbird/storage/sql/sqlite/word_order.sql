-- name: order_of_all
-- Every visible bookmark in the default order, as one text: a row per bookmark takes seven times as
-- long. The LIMIT keeps the order of the inner query.
SELECT group_concat(o.number)
  FROM (SELECT b.number AS number
          FROM bookmark AS b
         WHERE b.account_id = :account_id
           AND {filters}
         ORDER BY b.sort_index DESC, b.number DESC
         LIMIT -1) AS o

-- name: first_hits
-- The lowest numbers that match, whether visible or not.
SELECT group_concat(h.number)
  FROM (SELECT keyword.rowid - :place AS number
          FROM keyword
         WHERE keyword MATCH :wanted
           AND keyword.rowid BETWEEN :place AND :place_end
         LIMIT :limit) AS h

-- name: hits_among
-- `allowed` has one byte per number: 1 if the bookmark may be found.
SELECT group_concat(keyword.rowid - :place)
  FROM keyword
 WHERE keyword MATCH :wanted
   AND keyword.rowid BETWEEN :first_place AND :last_place
   AND substr(:allowed, keyword.rowid - :place + 1, 1) = x'01'

-- name: count_among
SELECT count(*)
  FROM keyword
 WHERE keyword MATCH :wanted
   AND keyword.rowid BETWEEN :place AND :place_end
   AND substr(:allowed, keyword.rowid - :place + 1, 1) = x'01'

-- name: numbers_of_filter
SELECT group_concat(b.number)
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND {filters}

-- name: keys_of_filter
-- CROSS JOIN makes SQLite start with the list; otherwise it would scan the whole account.
SELECT b.sort_index, b.number
  FROM json_each(:numbers) AS hit
  CROSS JOIN bookmark AS b ON b.account_id = :account_id AND b.number = hit.value
 WHERE {filters}
 ORDER BY b.sort_index DESC, b.number DESC

-- name: sort_index
SELECT b.sort_index
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND b.number = :number
