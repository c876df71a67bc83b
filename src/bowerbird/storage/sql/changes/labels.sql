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

-- name: named
SELECT l.label_id, l.name, l.name_key, l.metadata, l.bookmark_count, l.former_name,
       l.color
  FROM label AS l INDEXED BY label_by_name
 WHERE l.account_id = :account_id
   AND l.name_key = ANY(CAST(:name_keys AS text[]))

-- name: being_renamed
SELECT l.label_id, l.name, l.name_key, l.metadata, l.bookmark_count, l.former_name,
       l.color
  FROM label AS l INDEXED BY label_renamed
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
  FROM label AS l INDEXED BY label_coloured
 WHERE l.account_id = :account_id
   AND l.color IS NOT NULL

-- name: newest_pairs
-- Labels of the newest bookmarks that have any, as two lists in the same order.
SELECT string_agg(CAST(p.number AS text), ','), string_agg(CAST(p.label_id AS text), ',')
  FROM (SELECT bl.number, bl.label_id
          FROM bookmark_label AS bl
         WHERE bl.account_id = :account_id
         ORDER BY bl.number DESC, bl.label_id DESC
         LIMIT :limit) AS p

-- name: asked
SELECT b.post_id, b.number, b.author_key, b.refused_labels
  FROM bookmark AS b INDEXED BY bookmark_by_post
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
