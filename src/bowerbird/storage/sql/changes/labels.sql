-- name: page
SELECT l.label_id, l.name, l.name_key, l.metadata, l.bookmark_count, l.former_name,
       l.color
  FROM label AS l
 WHERE l.account_id = :account_id
   AND l.name_key > :after
 ORDER BY l.name_key
 LIMIT :limit

-- name: most_used
SELECT l.label_id, l.name, l.name_key, l.metadata, l.bookmark_count, l.former_name,
       l.color
  FROM label AS l
 WHERE l.account_id = :account_id
 ORDER BY l.bookmark_count DESC, l.name_key
 LIMIT :limit

-- name: names
SELECT l.label_id, l.name
  FROM label AS l
 WHERE l.account_id = :account_id
   AND l.bookmark_count > 0
 ORDER BY l.label_id

-- name: total
SELECT count(*)
  FROM label AS l
 WHERE l.account_id = :account_id

-- name: by_id
SELECT l.label_id, l.name, l.name_key, l.metadata, l.bookmark_count, l.former_name,
       l.color
  FROM label AS l
 WHERE l.account_id = :account_id
   AND l.label_id = :label_id

-- name: created_at
SELECT l.created_at
  FROM label AS l
 WHERE l.account_id = :account_id
   AND l.label_id = :label_id

-- name: changed_at
SELECT coalesce(l.updated_at, l.created_at)
  FROM label AS l
 WHERE l.account_id = :account_id
   AND l.label_id = :label_id

-- name: insert
INSERT INTO label (account_id, label_id, name, name_key, metadata, bookmark_count, created_at,
                   color)
VALUES (:account_id, :label_id, :name, :name_key, '{}', 0, :created_at, :color)

-- name: update
UPDATE label
   SET name = :name, name_key = :name_key, metadata = :metadata, former_name = :former_name,
       color = :color, updated_at = coalesce(CAST(:now AS bigint), updated_at)
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

-- name: uncount_all
UPDATE label
   SET bookmark_count = bookmark_count - 1
 WHERE account_id = :account_id
   AND label_id IN (SELECT bl.label_id
                      FROM bookmark_label AS bl
                     WHERE bl.account_id = :account_id
                       AND bl.number = :number)

-- name: detach_all
DELETE FROM bookmark_label
 WHERE account_id = :account_id
   AND number = :number
