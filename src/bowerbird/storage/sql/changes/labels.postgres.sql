-- name: named
SELECT l.label_id, l.name, l.name_key, l.metadata, l.bookmark_count, l.former_name,
       l.color
  FROM label AS l
 WHERE l.account_id = :account_id
   AND l.name_key = ANY(CAST(:name_keys AS text[]))

-- name: being_renamed
SELECT l.label_id, l.name, l.name_key, l.metadata, l.bookmark_count, l.former_name,
       l.color
  FROM label AS l
 WHERE l.account_id = :account_id
   AND l.former_name IS NOT NULL
 LIMIT 1

-- name: by_ids
SELECT l.label_id, l.name, l.name_key, l.metadata, l.bookmark_count, l.former_name,
       l.color
  FROM label AS l
 WHERE l.account_id = :account_id
   AND l.label_id = ANY(CAST(:label_ids AS bigint[]))

-- name: matching
SELECT l.label_id, l.name, l.name_key, l.metadata, l.bookmark_count, l.former_name,
       l.color
  FROM label AS l
 WHERE l.account_id = :account_id
   AND strpos(l.name_key, CAST(:text AS text)) > 0
 ORDER BY l.name_key = CAST(:text AS text) DESC, strpos(l.name_key, CAST(:text AS text)) = 1 DESC, l.bookmark_count DESC,
          l.name_key
 LIMIT :limit

-- name: matching_page
SELECT l.label_id, l.name, l.name_key, l.metadata, l.bookmark_count, l.former_name,
       l.color
  FROM label AS l
 WHERE l.account_id = :account_id
   AND l.name_key > :after
   AND strpos(l.name_key, CAST(:text AS text)) > 0
 ORDER BY l.name_key
 LIMIT :limit

-- name: total_matching
SELECT count(*)
  FROM label AS l
 WHERE l.account_id = :account_id
   AND strpos(l.name_key, CAST(:text AS text)) > 0

-- name: colors
SELECT l.name, l.color
  FROM label AS l
 WHERE l.account_id = :account_id
   AND l.color IS NOT NULL
