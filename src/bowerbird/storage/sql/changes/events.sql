-- name: sizes
SELECT e.last, e.size
  FROM library_event AS e
 WHERE e.account_id = :account_id
   AND e.last > :after
 ORDER BY e.last
 LIMIT :limit

-- name: between
SELECT e.last, e.size, e.at, e.events
  FROM library_event AS e
 WHERE e.account_id = :account_id
   AND e.last > :after
   AND e.last <= :until
 ORDER BY e.last

-- name: kept
-- The number of the last event, and of the last one that was removed.
SELECT l.events, coalesce((SELECT e.last - e.size
                             FROM library_event AS e
                            WHERE e.account_id = l.account_id
                            ORDER BY e.last
                            LIMIT 1), l.events)
  FROM library AS l
 WHERE l.account_id = :account_id

-- name: oldest
SELECT e.last, e.at
  FROM library_event AS e
 WHERE e.account_id = :account_id
 ORDER BY e.last
 LIMIT :limit

-- name: remove_up_to
DELETE FROM library_event
 WHERE account_id = :account_id
   AND last <= :last

-- name: posts_after
SELECT b.number, b.post_id
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND b.number > :after
 ORDER BY b.number
 LIMIT :limit
