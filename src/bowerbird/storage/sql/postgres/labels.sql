-- name: named
SELECT l.label_id, l.name, l.name_key, l.metadata, l.bookmark_count, l.former_name
  FROM label AS l
 WHERE l.account_id = :account_id
   AND l.name_key = ANY(CAST(:name_keys AS text[]))

-- name: being_renamed
SELECT l.label_id, l.name, l.name_key, l.metadata, l.bookmark_count, l.former_name
  FROM label AS l
 WHERE l.account_id = :account_id
   AND l.former_name IS NOT NULL
 LIMIT 1

-- name: by_ids
SELECT l.label_id, l.name, l.name_key, l.metadata, l.bookmark_count, l.former_name
  FROM label AS l
 WHERE l.account_id = :account_id
   AND l.label_id = ANY(CAST(:label_ids AS bigint[]))
