-- name: piece
-- A complete bookmark. SQLite joins bytes and text to text; `joined` casts it back to bytes.
c.rendering || x'{updated[0]}' || b.updated_at || x'{updated[1]}' ||
               CASE WHEN c.tags IS NULL
                    THEN CASE {state} WHEN 0 THEN x'{untagged[0]}' WHEN 1 THEN x'{untagged[1]}'
                                      WHEN 2 THEN x'{untagged[2]}' ELSE x'{untagged[3]}' END
                    ELSE x'{tags}' || c.tags ||
                         CASE {state} WHEN 0 THEN x'{flags[0]}' WHEN 1 THEN x'{flags[1]}'
                                      WHEN 2 THEN x'{flags[2]}' ELSE x'{flags[3]}' END
               END

-- name: rendered
CAST(c.rendering || x'{updated[0]}' || b.updated_at || x'{updated[1]}' AS BLOB)

-- name: joined
-- Keeps the order of the inner query, which SQLite runs separately because it has a LIMIT.
CAST(group_concat(p.piece, ',') AS BLOB)

-- name: page
-- Uses an index in the requested order. One row has all bookmarks, because transferring each in
-- its own row costs more than reading it. The keys of the last and of the next bookmark follow.
SELECT 0 AS part, {joined} AS body, count(*) AS count_or_key, 0 AS number
  FROM (SELECT {piece} AS piece, {sort} AS sort_value, b.number AS number
          FROM bookmark AS b
          JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
         WHERE b.account_id = :account_id
           AND {filters}
         ORDER BY {sort} {direction}, b.number {direction}
         LIMIT :limit) AS p
 UNION ALL
SELECT 1, NULL, e.sort_value, e.number
  FROM (SELECT {sort} AS sort_value, b.number AS number
          FROM bookmark AS b
         WHERE b.account_id = :account_id
           AND {filters}
         ORDER BY {sort} {direction}, b.number {direction}
         LIMIT 2 OFFSET :limit - 1) AS e

-- name: joined_contents
-- One row, because transferring each bookmark in its own row costs more than reading it. CROSS JOIN
-- also keeps the order of the list: sorting would copy every bookmark.
SELECT CAST(group_concat(p.piece, ',') AS BLOB)
  FROM (SELECT {piece} AS piece
          FROM json_each(:numbers) AS wanted
          CROSS JOIN bookmark AS b ON b.account_id = :account_id AND b.number = wanted.value
          CROSS JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number) AS p

-- name: content_sizes
-- length() does not read a long value.
SELECT wanted.value, length(c.rendering) + coalesce(length(c.tags), 0)
  FROM json_each(:numbers) AS wanted
  CROSS JOIN content AS c ON c.place = :place + wanted.value

-- name: posts_with_words
SELECT rowid - :place FROM keyword
 WHERE keyword MATCH {words} AND rowid BETWEEN :place_from AND :place_end

-- name: posts_with_notes
-- The index content_noted has these rows. Some are there for the note of an attachment.
SELECT c.place - :place FROM content AS c
 WHERE c.place BETWEEN :place_from AND :place_end
   AND instr(c.rendering, x'226e6f7465223a22') > 0
   AND (NOT json_valid(c.rendering || '}')
        OR json_extract(c.rendering || '}', '$.note') IS NOT NULL)

-- name: posts_with_highlights
-- The index content_highlighted has these rows.
SELECT c.place - :place FROM content AS c
 WHERE c.place BETWEEN :place_from AND :place_end
   AND instr(c.rendering, x'22686967686c6967687473223a5b7b') > 0
   AND (NOT json_valid(c.rendering || '}')
        OR json_extract(c.rendering || '}', '$.highlights') IS NOT NULL)

-- name: filter_labels
b.number IN (SELECT bl.number FROM json_each(:labels) AS wanted
              CROSS JOIN label AS l
                 ON l.account_id = :account_id AND l.name_key = wanted.value
              CROSS JOIN bookmark_label AS bl
                 ON bl.account_id = :account_id AND bl.label_id = l.label_id
              GROUP BY bl.number
             HAVING count(*) >= :labels_needed)

-- name: filter_wanted
b.number IN (SELECT rowid - :place FROM keyword
              WHERE keyword MATCH :wanted AND rowid BETWEEN :place_from AND :place_end)

-- name: filter_unwanted
b.number NOT IN (SELECT rowid - :place FROM keyword
                  WHERE keyword MATCH :unwanted AND rowid BETWEEN :place_from AND :place_end)

-- name: strands
-- The posts of these threads that a list has, the first one first, with their places in the list among
-- those of the same author and thread. Without the name of its index, SQLite reads the library.
SELECT s.thread, s.author_key, s.post_id, s.number, s.state, s.place
  FROM (SELECT coalesce(b.thread, b.post_id) AS thread, b.author_key AS author_key,
               b.post_id AS post_id, b.number AS number, {state} AS state,
               b.posted_at AS posted_at, b.thread IS NOT NULL AS is_part,
               row_number() OVER (PARTITION BY coalesce(b.thread, b.post_id), b.author_key
                                  ORDER BY {sort} {direction}, b.number {direction}) AS place
          FROM (SELECT t.number AS number
                  FROM json_each(:threads) AS wanted
                  CROSS JOIN bookmark AS t INDEXED BY bookmark_by_thread
                     ON t.account_id = :account_id AND t.thread = wanted.value
                 UNION
                SELECT t.number
                  FROM json_each(:threads) AS wanted
                  CROSS JOIN bookmark AS t
                     ON t.account_id = :account_id AND t.post_id = wanted.value
                        AND t.thread IS NULL AND t.media & :starts <> 0) AS m
          CROSS JOIN bookmark AS b ON b.account_id = :account_id AND b.number = m.number
         WHERE {filters}) AS s
 WHERE s.place <= :limit
 ORDER BY s.is_part, s.posted_at, s.number

-- name: in_order
SELECT b.number
  FROM json_each(:numbers) AS wanted
  CROSS JOIN bookmark AS b ON b.account_id = :account_id AND b.number = wanted.value
 ORDER BY {sort} {direction}, b.number {direction}
