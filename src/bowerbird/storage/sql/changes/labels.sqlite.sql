-- name: named
-- CROSS JOIN makes SQLite start with the list.
SELECT l.label_id, l.name, l.name_key, l.metadata, l.bookmark_count, l.former_name,
       l.color
  FROM json_each(:name_keys) AS wanted
  CROSS JOIN label AS l ON l.account_id = :account_id AND l.name_key = wanted.value

-- name: being_renamed
-- Otherwise SQLite reads all labels of the account; this index is nearly always empty.
SELECT l.label_id, l.name, l.name_key, l.metadata, l.bookmark_count, l.former_name,
       l.color
  FROM label AS l INDEXED BY label_renamed
 WHERE l.account_id = :account_id
   AND l.former_name IS NOT NULL
 LIMIT 1

-- name: by_ids
SELECT l.label_id, l.name, l.name_key, l.metadata, l.bookmark_count, l.former_name,
       l.color
  FROM json_each(:label_ids) AS wanted
  CROSS JOIN label AS l ON l.account_id = :account_id AND l.label_id = wanted.value

-- name: matching
SELECT l.label_id, l.name, l.name_key, l.metadata, l.bookmark_count, l.former_name,
       l.color
  FROM label AS l
 WHERE l.account_id = :account_id
   AND instr(l.name_key, :text) > 0
 ORDER BY l.name_key = :text DESC, instr(l.name_key, :text) = 1 DESC, l.bookmark_count DESC,
          l.name_key
 LIMIT :limit

-- name: matching_page
SELECT l.label_id, l.name, l.name_key, l.metadata, l.bookmark_count, l.former_name,
       l.color
  FROM label AS l
 WHERE l.account_id = :account_id
   AND l.name_key > :after
   AND instr(l.name_key, :text) > 0
 ORDER BY l.name_key
 LIMIT :limit

-- name: total_matching
SELECT count(*)
  FROM label AS l
 WHERE l.account_id = :account_id
   AND instr(l.name_key, :text) > 0

-- name: colors
SELECT l.name, l.color
  FROM label AS l INDEXED BY label_coloured
 WHERE l.account_id = :account_id
   AND l.color IS NOT NULL

-- name: newest_pairs
-- Labels of the newest bookmarks that have any, as two lists in the same order.
SELECT group_concat(p.number), group_concat(p.label_id)
  FROM (SELECT bl.number, bl.label_id
          FROM bookmark_label AS bl
         WHERE bl.account_id = :account_id
         ORDER BY bl.number DESC, bl.label_id DESC
         LIMIT :limit) AS p

-- name: asked
SELECT b.post_id, b.number, b.author_key, b.refused_labels
  FROM json_each(:post_ids) AS wanted
  CROSS JOIN bookmark AS b ON b.account_id = :account_id AND b.post_id = wanted.value

-- name: by_authors
SELECT b.author_key, group_concat(b.number)
  FROM json_each(:authors) AS wanted
  CROSS JOIN bookmark AS b ON b.account_id = :account_id
                          AND b.author_key = wanted.value
                          AND b.number >= :first
 GROUP BY b.author_key

-- name: refuse
UPDATE bookmark
   SET refused_labels = CASE WHEN length(refused_labels) < :most THEN refused_labels ELSE '' END
                     || CAST(:mark AS text)
 WHERE account_id = :account_id
   AND number IN (SELECT wanted.value FROM json_each(:numbers) AS wanted)
   AND instr(refused_labels, CAST(:mark AS text)) = 0
RETURNING number
