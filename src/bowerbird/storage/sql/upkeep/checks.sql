-- name: counters
-- The stored counters, then the true ones.
SELECT l.total, l.unread, l.archived, l.fresh, l.next_number, l.next_label_id,
       count(b.number),
       count(b.number) FILTER (WHERE NOT b.is_read),
       count(b.number) FILTER (WHERE b.is_archived),
       count(b.number) FILTER (WHERE NOT b.is_read AND NOT b.is_archived),
       coalesce(max(b.number), 0),
       (SELECT coalesce(max(n.label_id), 0) FROM label AS n WHERE n.account_id = :account_id)
  FROM library AS l
  LEFT JOIN bookmark AS b ON b.account_id = l.account_id
 WHERE l.account_id = :account_id
 GROUP BY l.account_id

-- name: fix_counters
UPDATE library
   SET total = :total,
       unread = :unread,
       archived = :archived,
       fresh = :fresh,
       next_number = :next_number,
       next_label_id = :next_label_id
 WHERE account_id = :account_id

-- name: label_counts
-- Labels whose count differs from the number of bookmarks with the label. An account that is
-- being deleted has no library row, and loses its labels after its bookmarks.
SELECT l.name, l.bookmark_count, count(bl.number)
  FROM label AS l
  JOIN library AS owner ON owner.account_id = l.account_id
  LEFT JOIN bookmark_label AS bl ON bl.account_id = l.account_id AND bl.label_id = l.label_id
 WHERE l.account_id = :account_id
 GROUP BY l.account_id, l.label_id, l.name, l.bookmark_count
HAVING l.bookmark_count <> count(bl.number)
 ORDER BY l.name

-- name: fix_label_counts
UPDATE label
   SET bookmark_count = (SELECT count(*) FROM bookmark_label AS bl
                          WHERE bl.account_id = :account_id AND bl.label_id = label.label_id)
 WHERE account_id = :account_id
   AND bookmark_count <> (SELECT count(*) FROM bookmark_label AS bl
                           WHERE bl.account_id = :account_id AND bl.label_id = label.label_id)

-- name: orphaned_attachments
SELECT bl.number
  FROM bookmark_label AS bl
 WHERE bl.account_id = :account_id
   AND (NOT EXISTS (SELECT 1 FROM bookmark AS b
                     WHERE b.account_id = :account_id AND b.number = bl.number)
        OR NOT EXISTS (SELECT 1 FROM label AS l
                        WHERE l.account_id = :account_id AND l.label_id = bl.label_id))
 ORDER BY bl.number

-- name: delete_orphaned_attachments
DELETE FROM bookmark_label
 WHERE account_id = :account_id
   AND (NOT EXISTS (SELECT 1 FROM bookmark AS b
                     WHERE b.account_id = :account_id AND b.number = bookmark_label.number)
        OR NOT EXISTS (SELECT 1 FROM label AS l
                        WHERE l.account_id = :account_id
                          AND l.label_id = bookmark_label.label_id))

-- name: page
-- Everything that is stored for some bookmarks, by number.
SELECT b.number, b.post_id, b.sort_index, b.is_read, b.is_archived, b.imported_at,
       b.bookmarked_at, b.posted_at, b.media, b.author_key, b.author_name_key, b.title_key,
       b.quote_count, b.reply_count, b.retweet_count, b.bookmark_count, b.favorite_count,
       b.content_hash, b.completeness, b.order_source, c.render_version, c.tags, c.rendering,
       b.word_form, {has_words}, {label_names}
  FROM bookmark AS b
  LEFT JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
 WHERE b.account_id = :account_id
   AND {condition}
 ORDER BY b.number
 LIMIT :limit

-- name: undated
SELECT b.number
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND b.number = ANY(CAST(:numbers AS bigint[]))
   AND b.posted_at = :unknown
 ORDER BY b.number

-- name: leftovers
-- Rows without an account. A deletion removes the person last, so its rows do not count yet.
-- Citus does not join a table of the coordinator with a distributed one, except as a materialized list.
WITH person_id AS MATERIALIZED (SELECT p.account_id FROM person AS p)
SELECT count(*)
  FROM {table} AS t
 WHERE NOT EXISTS (SELECT 1 FROM person_id AS p WHERE p.account_id = t.account_id)
   AND NOT EXISTS (SELECT 1 FROM library AS l WHERE l.account_id = t.account_id)

-- name: delete_leftovers
WITH person_id AS MATERIALIZED (SELECT p.account_id FROM person AS p)
DELETE FROM {table}
 WHERE ({key}) IN (SELECT {key}
                     FROM {table} AS t
                    WHERE NOT EXISTS (SELECT 1 FROM person_id AS p
                                       WHERE p.account_id = t.account_id)
                      AND NOT EXISTS (SELECT 1 FROM library AS l
                                       WHERE l.account_id = t.account_id)
                    LIMIT :limit)

-- name: libraries_without_person
WITH person_id AS MATERIALIZED (SELECT p.account_id FROM person AS p)
SELECT count(*)
  FROM library AS l
 WHERE NOT EXISTS (SELECT 1 FROM person_id AS p WHERE p.account_id = l.account_id)

-- name: orphaned_vectors
SELECT v.number
  FROM vector AS v
 WHERE v.account_id = :account_id
   AND (NOT EXISTS (SELECT 1 FROM bookmark AS b
                     WHERE b.account_id = :account_id AND b.number = v.number)
        OR NOT EXISTS (SELECT 1 FROM vector_store AS s
                        WHERE s.account_id = :account_id AND s.model = v.model))
 ORDER BY v.number

-- name: delete_orphaned_vectors
DELETE FROM vector
 WHERE account_id = :account_id
   AND (NOT EXISTS (SELECT 1 FROM bookmark AS b
                     WHERE b.account_id = :account_id AND b.number = vector.number)
        OR NOT EXISTS (SELECT 1 FROM vector_store AS s
                        WHERE s.account_id = :account_id AND s.model = vector.model))

-- name: media_counts
-- The stored number of kept files and the size of images, and the true ones.
SELECT m.files, m.bytes,
       (SELECT count(*) FROM media_file AS f WHERE f.account_id = :account_id),
       (SELECT coalesce(sum(f.bytes), 0) FROM media_file AS f
         WHERE f.account_id = :account_id AND f.type <> 'video/mp4')
  FROM media_account AS m
 WHERE m.account_id = :account_id

-- name: fix_media_counts
UPDATE media_account
   SET files = (SELECT count(*) FROM media_file AS f WHERE f.account_id = :account_id),
       bytes = (SELECT coalesce(sum(f.bytes), 0)
                  FROM media_file AS f
                 WHERE f.account_id = :account_id AND f.type <> 'video/mp4')
 WHERE account_id = :account_id

-- name: vector_counts
-- Per store: the stored count of vectors, the true count, and how many are missing below
-- complete_below. Stale vectors do not count.
SELECT s.name, s.embedded,
       (SELECT count(*) FROM vector AS v
         WHERE v.account_id = :account_id AND v.model = s.model AND length(v.text_hash) > 0),
       (SELECT count(*) FROM bookmark AS b
         WHERE b.account_id = :account_id AND b.number < s.complete_below
           AND NOT EXISTS (SELECT 1 FROM vector AS v
                            WHERE v.account_id = :account_id AND v.number = b.number
                              AND v.model = s.model AND length(v.text_hash) > 0))
  FROM vector_store AS s
 WHERE s.account_id = :account_id
 ORDER BY s.name

-- name: fix_vector_counts
-- The next build starts from the first bookmark.
UPDATE vector_store
   SET embedded = (SELECT count(*) FROM vector AS v
                    WHERE v.account_id = :account_id AND v.model = vector_store.model
                      AND length(v.text_hash) > 0),
       complete_below = 0,
       invalidations = invalidations + 1,
       generation = generation + 1
 WHERE account_id = :account_id

-- name: these_numbers
b.number = ANY(CAST(:numbers AS bigint[]))
