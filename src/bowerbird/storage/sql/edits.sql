-- name: close
UPDATE library
   SET version = version + 1,
       next_number = :next_number,
       next_label_id = :next_label_id,
       total = total + :total,
       unread = unread + :unread,
       archived = archived + :archived,
       fresh = fresh + :fresh
 WHERE account_id = :account_id

-- name: labels
SELECT l.label_id, l.name, l.name_key, l.metadata, l.bookmark_count
  FROM label AS l
 WHERE l.account_id = :account_id
 ORDER BY l.name_key

-- name: insert_label
INSERT INTO label (account_id, label_id, name, name_key, metadata, bookmark_count, created_at)
VALUES (:account_id, :label_id, :name, :name_key, '{}', 0, :created_at)

-- name: update_label
UPDATE label
   SET name = :name, name_key = :name_key, metadata = :metadata
 WHERE account_id = :account_id
   AND label_id = :label_id

-- name: delete_label
DELETE FROM label
 WHERE account_id = :account_id
   AND label_id = :label_id

-- name: attach
INSERT INTO bookmark_label (account_id, label_id, number)
VALUES (:account_id, :label_id, :number)

-- name: detach
DELETE FROM bookmark_label
 WHERE account_id = :account_id
   AND label_id = :label_id
   AND number = :number

-- name: count_label
UPDATE label
   SET bookmark_count = bookmark_count + :change
 WHERE account_id = :account_id
   AND label_id = :label_id

-- name: set_flags
UPDATE bookmark
   SET is_read = :is_read, is_archived = :is_archived
 WHERE account_id = :account_id
   AND number = :number

-- name: touch
UPDATE library
   SET version = version + 1
 WHERE account_id = :account_id

-- name: remove_bookmark
DELETE FROM bookmark
 WHERE account_id = :account_id
   AND number = :number

-- name: uncount_vectors
UPDATE vector_store
   SET embedded = embedded - 1
 WHERE account_id = :account_id
   AND model IN (SELECT v.model FROM vector AS v
                  WHERE v.account_id = :account_id AND v.number = :number)

-- name: remove_vectors
DELETE FROM vector
 WHERE account_id = :account_id
   AND number = :number
