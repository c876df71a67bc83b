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

-- name: newest_pairs
SELECT string_agg(CAST(p.number AS text), ','), string_agg(CAST(p.label_id AS text), ',')
  FROM (SELECT bl.number, bl.label_id
          FROM bookmark_label AS bl
         WHERE bl.account_id = :account_id
         ORDER BY bl.number DESC, bl.label_id DESC
         LIMIT :limit) AS p

-- name: asked
SELECT b.post_id, b.number, b.author_key, b.refused_labels
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND b.post_id = ANY(CAST(:post_ids AS text[]))

-- name: by_authors
SELECT b.author_key, string_agg(CAST(b.number AS text), ',')
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND b.author_key = ANY(CAST(:authors AS text[]))
   AND b.number >= :first
 GROUP BY b.author_key

-- name: refuse
UPDATE bookmark
   SET refused_labels = CASE WHEN length(refused_labels) < :most THEN refused_labels ELSE '' END
                     || CAST(:mark AS text)
 WHERE account_id = :account_id
   AND number = ANY(CAST(:numbers AS bigint[]))
   AND strpos(refused_labels, CAST(:mark AS text)) = 0
RETURNING number
