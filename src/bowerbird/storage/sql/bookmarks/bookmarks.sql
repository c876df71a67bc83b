-- name: state
-- Both flags as one number: one column less per bookmark to transfer.
CAST(b.is_read AS integer) + 2 * CAST(b.is_archived AS integer)

-- name: by_post_id
SELECT b.completeness, {rendered}, c.tags, {state}
  FROM bookmark AS b
  JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
 WHERE b.account_id = :account_id
   AND b.post_id = :post_id

-- name: keys
-- A page without contents, so that only narrow rows have to be sorted.
SELECT {sort} AS sort_value, b.number
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND {filters}
 ORDER BY {sort} {direction}, b.number {direction}
 LIMIT :limit

-- name: count
SELECT count(*)
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND {filters}

-- name: post_ids
SELECT b.post_id
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND {filters}
 ORDER BY b.number

-- name: contents
SELECT {rendered}, c.tags, {state}, b.number
  FROM bookmark AS b
  JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
 WHERE b.account_id = :account_id
   AND b.number = ANY(CAST(:numbers AS bigint[]))

-- name: prints
-- What shows that posts are copies, and their places in the default order.
SELECT b.number, b.sort_index, b.text_print, b.link_print
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND b.number = ANY(CAST(:numbers AS bigint[]))

-- name: by_post_ids
SELECT b.post_id, {rendered}, c.tags, {state}
  FROM bookmark AS b INDEXED BY bookmark_by_post
  JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
 WHERE b.account_id = :account_id
   AND b.post_id = ANY(CAST(:post_ids AS text[]))

-- name: posts_of_numbers
SELECT b.number, b.post_id
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND b.number = ANY(CAST(:numbers AS bigint[]))

-- name: posts_with_labels
SELECT bl.number FROM bookmark_label AS bl
 WHERE bl.account_id = CAST(:account_id AS bigint)
   AND bl.label_id = ANY(CAST({labels} AS bigint[]))

-- name: filter_these
b.post_id = ANY(CAST(:post_ids AS text[]))

-- name: filter_authors
b.number IN (SELECT a.number FROM bookmark AS a INDEXED BY bookmark_by_author
              WHERE a.account_id = :account_id AND a.author_key = ANY(CAST(:author_handle AS text[]))
              UNION
             SELECT a.number FROM bookmark AS a INDEXED BY bookmark_by_author_name
              WHERE a.account_id = :account_id AND a.author_name_key = ANY(CAST(:author AS text[])))

-- name: filter_languages
b.language = ANY(CAST(:languages AS text[]))

-- name: number_text
SELECT string_agg(CAST(b.number AS text), ',')
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND {filters}

-- name: thread
-- The post that starts a thread and the parts that are saved, oldest first. Each half has an index.
SELECT t.number
  FROM (SELECT b.number, b.posted_at, b.post_id <> :thread AS is_part
          FROM bookmark AS b
         WHERE b.account_id = :account_id
           AND b.post_id = :thread
         UNION
        SELECT b.number, b.posted_at, b.post_id <> :thread AS is_part
          FROM bookmark AS b INDEXED BY bookmark_by_thread
         WHERE b.account_id = :account_id
           AND b.thread = :thread) AS t
 ORDER BY t.is_part, t.posted_at, t.number
 LIMIT :limit

-- name: posts_with_copies
-- The posts whose text, links or pictures another post has too.
SELECT d.number
  FROM (SELECT t.text_print AS print FROM bookmark AS t
         WHERE t.account_id = :account_id AND t.text_print IS NOT NULL
         GROUP BY t.text_print HAVING count(*) > 1) AS g
  CROSS JOIN bookmark AS d ON d.account_id = :account_id AND d.text_print = g.print
 UNION
SELECT d.number
  FROM (SELECT t.link_print AS print FROM bookmark AS t
         WHERE t.account_id = :account_id AND t.link_print IS NOT NULL
         GROUP BY t.link_print HAVING count(*) > 1) AS g
  CROSS JOIN bookmark AS d ON d.account_id = :account_id AND d.link_print = g.print
 UNION
SELECT d.number
  FROM (SELECT t.picture_print AS print FROM bookmark AS t
         WHERE t.account_id = :account_id AND t.picture_print IS NOT NULL
         GROUP BY t.picture_print HAVING count(*) > 1) AS g
  CROSS JOIN bookmark AS d ON d.account_id = :account_id AND d.picture_print = g.print

-- name: has_posts_without_traits
SELECT EXISTS (SELECT 1 FROM bookmark AS b INDEXED BY bookmark_without_pictures
                WHERE b.account_id = :account_id AND b.media & 524288 = 0)
