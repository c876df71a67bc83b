-- name: version
SELECT l.version
  FROM library AS l
 WHERE l.account_id = :account_id

-- name: advance
UPDATE library
   SET version = version + 1,
       next_number = :next_number,
       next_label_id = :next_label_id,
       total = total + :total,
       unread = unread + :unread,
       archived = archived + :archived,
       fresh = fresh + :fresh,
       events = events + :events
 WHERE account_id = :account_id

-- name: touch
UPDATE library
   SET version = version + 1,
       events = events + :events
 WHERE account_id = :account_id
