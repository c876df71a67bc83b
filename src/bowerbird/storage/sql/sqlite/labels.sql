-- name: named
-- CROSS JOIN makes SQLite start with the list.
SELECT l.label_id, l.name, l.name_key, l.metadata, l.bookmark_count, l.former_name
  FROM json_each(:name_keys) AS wanted
  CROSS JOIN label AS l ON l.account_id = :account_id AND l.name_key = wanted.value

-- name: being_renamed
-- Otherwise SQLite reads all labels of the account; this index is nearly always empty.
SELECT l.label_id, l.name, l.name_key, l.metadata, l.bookmark_count, l.former_name
  FROM label AS l INDEXED BY label_renamed
 WHERE l.account_id = :account_id
   AND l.former_name IS NOT NULL
 LIMIT 1

-- name: by_ids
SELECT l.label_id, l.name, l.name_key, l.metadata, l.bookmark_count, l.former_name
  FROM json_each(:label_ids) AS wanted
  CROSS JOIN label AS l ON l.account_id = :account_id AND l.label_id = wanted.value
