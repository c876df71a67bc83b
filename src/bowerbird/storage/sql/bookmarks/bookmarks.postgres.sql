-- name: piece
-- A complete bookmark.
{rendered} || CASE WHEN c.tags IS NULL
                    THEN CASE {state} WHEN 0 THEN CAST('\x{untagged[0]}' AS bytea)
                                      WHEN 1 THEN CAST('\x{untagged[1]}' AS bytea)
                                      WHEN 2 THEN CAST('\x{untagged[2]}' AS bytea)
                                      ELSE CAST('\x{untagged[3]}' AS bytea) END
                    ELSE CAST('\x{tags}' AS bytea) || c.tags ||
                         CASE {state} WHEN 0 THEN CAST('\x{flags[0]}' AS bytea)
                                      WHEN 1 THEN CAST('\x{flags[1]}' AS bytea)
                                      WHEN 2 THEN CAST('\x{flags[2]}' AS bytea)
                                      ELSE CAST('\x{flags[3]}' AS bytea) END
               END

-- name: rendered
c.rendering || CAST('\x{updated[0]}' AS bytea) || convert_to(b.updated_at, 'UTF8')
            || CAST('\x{updated[1]}' AS bytea)

-- name: joined
string_agg(p.piece, CAST(',' AS bytea) ORDER BY p.sort_value {direction}, p.number {direction})

-- name: page
-- Uses an index in the requested order. One row has all bookmarks, because transferring each in
-- its own row costs more than reading it. The keys of the last and of the next bookmark follow.
-- No page has 200 posts. Next to this fixed limit a plan for any values looks as good as one for
-- these values, so PostgreSQL keeps the plan: making it takes longer than reading the page.
SELECT 0 AS part, {joined} AS body, count(*) AS count_or_key, 0 AS number
  FROM (SELECT f.piece, f.sort_value, f.number
          FROM (SELECT {piece} AS piece, {sort} AS sort_value, b.number AS number
                  FROM bookmark AS b
                  JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
                 WHERE b.account_id = :account_id
                   AND {filters}
                 ORDER BY {sort} {direction}, b.number {direction}
                 LIMIT 200) AS f
         ORDER BY f.sort_value {direction}, f.number {direction}
         LIMIT :limit) AS p
 UNION ALL
SELECT 1, NULL, e.sort_value, e.number
  FROM (SELECT f.sort_value, f.number
          FROM (SELECT {sort} AS sort_value, b.number AS number
                  FROM bookmark AS b
                 WHERE b.account_id = :account_id
                   AND {filters}
                 ORDER BY {sort} {direction}, b.number {direction}
                 LIMIT 200) AS f
         ORDER BY f.sort_value {direction}, f.number {direction}
         LIMIT 2 OFFSET :limit - 1) AS e

-- name: joined_contents
SELECT string_agg(p.piece, CAST(',' AS bytea) ORDER BY p.place)
  FROM (SELECT {piece} AS piece, wanted.place
          FROM unnest(CAST(:numbers AS bigint[])) WITH ORDINALITY AS wanted (number, place)
          JOIN bookmark AS b ON b.account_id = :account_id AND b.number = wanted.number
          JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number) AS p

-- name: content_sizes
SELECT c.number, octet_length(c.rendering) + coalesce(octet_length(c.tags), 0)
  FROM content AS c
 WHERE c.account_id = :account_id
   AND c.number = ANY(CAST(:numbers AS bigint[]))

-- name: posts_with_words
SELECT k.number FROM keyword AS k
 WHERE k.account_id = CAST(:account_id AS bigint)
   AND k.words @@ CAST(CAST({words} AS text) AS tsquery)

-- name: posts_with_notes
-- The index content_noted has these rows. Some are there for the note of an attachment.
SELECT c.number FROM content AS c
 WHERE c.account_id = CAST(:account_id AS bigint)
   AND position(CAST('\x226e6f7465223a22' AS bytea) IN c.rendering) > 0
   AND CAST(convert_from(c.rendering, 'UTF8') || '}' AS json) -> 'note' IS NOT NULL

-- name: posts_with_highlights
-- The index content_highlighted has these rows.
SELECT c.number FROM content AS c
 WHERE c.account_id = CAST(:account_id AS bigint)
   AND position(CAST('\x22686967686c6967687473223a5b7b' AS bytea) IN c.rendering) > 0
   AND CAST(convert_from(c.rendering, 'UTF8') || '}' AS json) -> 'highlights' IS NOT NULL

-- name: filter_labels
b.number IN (SELECT bl.number FROM bookmark_label AS bl
               JOIN label AS l ON l.account_id = bl.account_id AND l.label_id = bl.label_id
              WHERE bl.account_id = :account_id AND l.account_id = :account_id
                AND l.name_key = ANY(CAST(:labels AS text[]))
              GROUP BY bl.number
             HAVING count(*) >= :labels_needed)

-- name: filter_wanted
b.number IN (SELECT k.number FROM keyword AS k
              WHERE k.account_id = CAST(:account_id AS bigint)
                AND k.words @@ CAST(CAST(:wanted AS text) AS tsquery))

-- name: filter_unwanted
b.number NOT IN (SELECT k.number FROM keyword AS k
                  WHERE k.account_id = CAST(:account_id AS bigint)
                    AND k.words @@ CAST(CAST(:unwanted AS text) AS tsquery))

-- name: strands
-- The posts of these threads that a list has, the first one first, with their places in the list among
-- those of the same author and thread.
SELECT s.thread, s.author_key, s.post_id, s.number, s.state, s.place
  FROM (SELECT coalesce(b.thread, b.post_id) AS thread, b.author_key, b.post_id, b.number,
               {state} AS state, b.posted_at, b.thread IS NOT NULL AS is_part,
               row_number() OVER (PARTITION BY coalesce(b.thread, b.post_id), b.author_key
                                  ORDER BY {sort} {direction}, b.number {direction}) AS place
          FROM bookmark AS b
         WHERE b.account_id = :account_id
           AND b.number IN (SELECT t.number FROM bookmark AS t
                             WHERE t.account_id = :account_id
                               AND t.thread = ANY(CAST(:threads AS text[]))
                             UNION
                            SELECT t.number FROM bookmark AS t
                             WHERE t.account_id = :account_id
                               AND t.post_id = ANY(CAST(:threads AS text[]))
                               AND t.thread IS NULL AND t.media & :starts <> 0)
           AND {filters}) AS s
 WHERE s.place <= :limit
 ORDER BY s.is_part, s.posted_at, s.number

-- name: in_order
SELECT b.number
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND b.number = ANY(CAST(:numbers AS bigint[]))
 ORDER BY {sort} {direction}, b.number {direction}
