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

-- name: hits_of_each
-- All numbers that match each query, whether visible or not.
SELECT (SELECT group_concat(keyword.rowid - :place)
          FROM keyword
         WHERE keyword MATCH query.value
           AND keyword.rowid BETWEEN :place AND :place_end)
  FROM json_each(:queries) AS query

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

-- name: numbers_selected
SELECT group_concat(selected.number)
  FROM ({numbers}) AS selected

-- name: numbers_with_labels
SELECT group_concat(bl.number)
  FROM json_each(:labels) AS wanted
  CROSS JOIN bookmark_label AS bl
     ON bl.account_id = :account_id AND bl.label_id = wanted.value

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

-- name: index_state
-- The list of segments that FTS5 stores in this row: every change of a word changes it, as long as
-- automerge is not 0 when a transaction ends. A row of the time before could come back otherwise.
SELECT d.block
  FROM keyword_data AS d
 WHERE d.id = 10

-- name: common_words
-- The row of the empty word counts the posts.
SELECT w.word
  FROM word_count AS w
 WHERE w.account_id = :account_id
   AND w.posts >= :fewest
   AND w.word <> ''
 ORDER BY w.posts DESC, w.word
 LIMIT :limit
