-- name: content
-- `place` is the account's local number in the high bits and the bookmark's number below.
c.place = :place + b.number

-- name: contents
-- CROSS JOIN keeps the order: the list first. The planner would walk the whole account instead.
SELECT c.rendering, c.tags, {state}, b.number
  FROM json_each(:numbers) AS wanted
  CROSS JOIN bookmark AS b ON b.account_id = :account_id AND b.number = wanted.value
  CROSS JOIN content AS c ON c.place = :place + b.number

-- name: filter_wanted
b.number IN (SELECT rowid - :place FROM keyword
              WHERE keyword MATCH :wanted AND rowid BETWEEN :place AND :place_end)

-- name: filter_unwanted
b.number NOT IN (SELECT rowid - :place FROM keyword
                  WHERE keyword MATCH :unwanted AND rowid BETWEEN :place AND :place_end)

-- name: ranked
-- The best thousand, best first; bm25 is smaller for better.
SELECT b.number
  FROM keyword
  JOIN bookmark AS b ON b.account_id = :account_id AND b.number = keyword.rowid - :place
 WHERE keyword MATCH :wanted
   AND keyword.rowid BETWEEN :place AND :place_end
   AND {filters}
 ORDER BY bm25(keyword), b.number DESC
 LIMIT :limit
