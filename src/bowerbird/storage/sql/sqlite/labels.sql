-- name: named
-- CROSS JOIN makes SQLite start with the list.
SELECT l.label_id, l.name, l.name_key, l.metadata, l.bookmark_count, l.former_name
  FROM json_each(:name_keys) AS wanted
  CROSS JOIN label AS l ON l.account_id = :account_id AND l.name_key = wanted.value
