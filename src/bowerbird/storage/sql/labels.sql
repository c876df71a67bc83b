-- name: all
SELECT l.label_id, l.name, l.name_key, l.metadata, l.bookmark_count
  FROM label AS l
 WHERE l.account_id = :account_id
 ORDER BY l.name_key

-- name: insert
INSERT INTO label (account_id, label_id, name, name_key, metadata, bookmark_count, created_at)
VALUES (:account_id, :label_id, :name, :name_key, '{}', 0, :created_at)

-- name: update
UPDATE label
   SET name = :name, name_key = :name_key, metadata = :metadata
 WHERE account_id = :account_id
   AND label_id = :label_id

-- name: delete
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

-- name: count
UPDATE label
   SET bookmark_count = bookmark_count + :change
 WHERE account_id = :account_id
   AND label_id = :label_id
