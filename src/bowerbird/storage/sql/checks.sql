-- name: counters
-- What the library's row says, and what there is.
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

-- name: mend_counters
UPDATE library
   SET total = :total,
       unread = :unread,
       archived = :archived,
       fresh = :fresh,
       next_number = :next_number,
       next_label_id = :next_label_id
 WHERE account_id = :account_id

-- name: label_counts
-- Labels whose count is not the number of bookmarks that carry them; an account that is being
-- removed has no library any more, and its labels go later than its bookmarks.
SELECT l.name, l.bookmark_count, count(bl.number)
  FROM label AS l
  JOIN library AS owner ON owner.account_id = l.account_id
  LEFT JOIN bookmark_label AS bl ON bl.account_id = l.account_id AND bl.label_id = l.label_id
 WHERE l.account_id = :account_id
 GROUP BY l.account_id, l.label_id, l.name, l.bookmark_count
HAVING l.bookmark_count <> count(bl.number)
 ORDER BY l.name

-- name: mend_label_counts
UPDATE label
   SET bookmark_count = (SELECT count(*) FROM bookmark_label AS bl
                          WHERE bl.account_id = :account_id AND bl.label_id = label.label_id)
 WHERE account_id = :account_id
   AND bookmark_count <> (SELECT count(*) FROM bookmark_label AS bl
                           WHERE bl.account_id = :account_id AND bl.label_id = label.label_id)

-- name: stray_attachments
SELECT bl.number
  FROM bookmark_label AS bl
 WHERE bl.account_id = :account_id
   AND (NOT EXISTS (SELECT 1 FROM bookmark AS b
                     WHERE b.account_id = :account_id AND b.number = bl.number)
        OR NOT EXISTS (SELECT 1 FROM label AS l
                        WHERE l.account_id = :account_id AND l.label_id = bl.label_id))
 ORDER BY bl.number

-- name: mend_stray_attachments
DELETE FROM bookmark_label
 WHERE account_id = :account_id
   AND (NOT EXISTS (SELECT 1 FROM bookmark AS b
                     WHERE b.account_id = :account_id AND b.number = bookmark_label.number)
        OR NOT EXISTS (SELECT 1 FROM label AS l
                        WHERE l.account_id = :account_id
                          AND l.label_id = bookmark_label.label_id))

-- name: page
-- Every stored thing of some bookmarks, in the order of their numbers.
SELECT b.number, b.post_id, b.sort_index, b.is_read, b.is_archived, b.imported_at,
       b.bookmarked_at, b.posted_at, b.media, b.author_key, b.author_name_key, b.title_key,
       b.quote_count, b.reply_count, b.retweet_count, b.bookmark_count, b.favorite_count,
       b.content_hash, c.render_version, c.tags, c.rendering,
       {has_words}, {label_names}
  FROM bookmark AS b
  LEFT JOIN content AS c ON {content}
 WHERE b.account_id = :account_id
   AND {wanted}
 ORDER BY b.number
 LIMIT :limit

-- name: leftovers
-- Rows of no account. When one is removed, step by step, its person goes last.
SELECT count(*)
  FROM {table} AS t
 WHERE NOT EXISTS (SELECT 1 FROM person AS p WHERE p.account_id = t.account_id)
   AND NOT EXISTS (SELECT 1 FROM library AS l WHERE l.account_id = t.account_id)

-- name: mend_leftovers
DELETE FROM {table}
 WHERE ({key}) IN (SELECT {key}
                     FROM {table} AS t
                    WHERE NOT EXISTS (SELECT 1 FROM person AS p
                                       WHERE p.account_id = t.account_id)
                      AND NOT EXISTS (SELECT 1 FROM library AS l
                                       WHERE l.account_id = t.account_id)
                    LIMIT :limit)

-- name: ownerless
SELECT count(*)
  FROM library AS l
 WHERE NOT EXISTS (SELECT 1 FROM person AS p WHERE p.account_id = l.account_id)

-- name: stray_vectors
SELECT v.number
  FROM vector AS v
 WHERE v.account_id = :account_id
   AND (NOT EXISTS (SELECT 1 FROM bookmark AS b
                     WHERE b.account_id = :account_id AND b.number = v.number)
        OR NOT EXISTS (SELECT 1 FROM vector_store AS s
                        WHERE s.account_id = :account_id AND s.model = v.model))
 ORDER BY v.number

-- name: mend_stray_vectors
DELETE FROM vector
 WHERE account_id = :account_id
   AND (NOT EXISTS (SELECT 1 FROM bookmark AS b
                     WHERE b.account_id = :account_id AND b.number = vector.number)
        OR NOT EXISTS (SELECT 1 FROM vector_store AS s
                        WHERE s.account_id = :account_id AND s.model = vector.model))

-- name: vector_counts
-- Of each store: how many vectors it says to have, how many it has, and how many it lacks where
-- it says to be complete.
SELECT s.name, s.embedded,
       (SELECT count(*) FROM vector AS v
         WHERE v.account_id = :account_id AND v.model = s.model),
       (SELECT count(*) FROM bookmark AS b
         WHERE b.account_id = :account_id AND b.number < s.complete_below
           AND NOT EXISTS (SELECT 1 FROM vector AS v
                            WHERE v.account_id = :account_id AND v.number = b.number
                              AND v.model = s.model))
  FROM vector_store AS s
 WHERE s.account_id = :account_id
 ORDER BY s.name

-- name: mend_vector_counts
-- The next build looks through everything.
UPDATE vector_store
   SET embedded = (SELECT count(*) FROM vector AS v
                    WHERE v.account_id = :account_id AND v.model = vector_store.model),
       complete_below = 0,
       invalidations = invalidations + 1,
       generation = generation + 1
 WHERE account_id = :account_id
