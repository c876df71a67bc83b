-- name: order_of_all
-- Every visible bookmark in the default order.
SELECT b.sort_index, b.number
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND {filters}
 ORDER BY b.sort_index DESC, b.number DESC

-- name: hits_in_order
-- `ranks` has four bytes per number: its position in the default order, or 0xFFFFFFFF if hidden.
SELECT substr(:ranks, 4 * (keyword.rowid - :place) + 1, 4) AS rank_bytes
  FROM keyword
 WHERE keyword MATCH :wanted
   AND keyword.rowid BETWEEN :first_place AND :last_place
   AND rank_bytes BETWEEN :from_rank AND :to_rank
 ORDER BY rank_bytes
 LIMIT :limit

-- name: count_of_hits
SELECT count(*)
  FROM keyword
 WHERE keyword MATCH :wanted
   AND keyword.rowid BETWEEN :place AND :place_end
   AND substr(:ranks, 4 * (keyword.rowid - :place) + 1, 4) BETWEEN x'00000000' AND x'FFFFFFFE'
