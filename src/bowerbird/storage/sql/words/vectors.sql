-- name: stores
SELECT s.model, s.name, s.dimensions, s.embedded, s.complete_below, s.invalidations,
       s.generation, s.is_built, s.examined_below
  FROM vector_store AS s
 WHERE s.account_id = :account_id

-- name: page
-- The stores of all accounts, by account.
SELECT s.account_id, s.model, s.name, s.embedded, l.total, p.email
  FROM vector_store AS s
  JOIN library AS l ON l.account_id = s.account_id
  LEFT JOIN person AS p ON p.account_id = s.account_id
 WHERE (s.account_id, s.model) > (:account_id, :model)
 ORDER BY s.account_id, s.model
 LIMIT :limit

-- name: insert_store
-- Reads from library, so that an account that is being deleted gets no new row. Both counters
-- start at the current time, so that a cache never takes a new store for the one it replaced.
INSERT INTO vector_store (account_id, model, name, dimensions, embedded, complete_below,
                          invalidations, generation, is_built, unpaid_since)
SELECT l.account_id, CAST(:model AS bytea), CAST(:name AS text), 0, 0, 0,
       CAST(:now AS bigint), CAST(:now AS bigint), FALSE, NULL
  FROM library AS l
 WHERE l.account_id = :account_id
    ON CONFLICT (account_id, model) DO NOTHING

-- name: put_vector
INSERT INTO vector (account_id, number, model, text_hash, written, scales, vectors)
VALUES (:account_id, :number, :model, :text_hash, :written, :scales, :vectors)
    ON CONFLICT (account_id, number, model) DO UPDATE
   SET text_hash = excluded.text_hash,
       written = excluded.written,
       scales = excluded.scales,
       vectors = excluded.vectors

-- name: update_after_write
-- complete_below stays as it is if a vector became stale since the build read the store.
UPDATE vector_store
   SET embedded = embedded + :added,
       generation = :generation,
       dimensions = :dimensions,
       complete_below = CASE WHEN invalidations = :seen_invalidations THEN :complete_below
                             ELSE complete_below END
 WHERE account_id = :account_id
   AND model = :model

-- name: mark_built
UPDATE vector_store
   SET is_built = TRUE, generation = generation + 1
 WHERE account_id = :account_id
   AND model = :model
   AND NOT is_built
   AND embedded >= (SELECT l.total FROM library AS l WHERE l.account_id = :account_id)

-- name: rows_since
-- In the order they were written, after a given row.
SELECT v.number, v.scales, v.vectors, v.written
  FROM vector AS v
 WHERE v.account_id = :account_id
   AND v.model = :model
   AND (v.written, v.number) > (:written, :number)
 ORDER BY v.written, v.number
 LIMIT :limit

-- name: mark_stale
-- A vector without the hash of its text serves until a build has replaced it.
UPDATE vector
   SET text_hash = :no_hash
 WHERE account_id = :account_id
   AND number = :number
   AND model = :model

-- name: update_after_stale
UPDATE vector_store
   SET embedded = embedded - :count,
       invalidations = invalidations + 1,
       generation = generation + 1,
       complete_below = CASE WHEN complete_below > :lowest THEN :lowest ELSE complete_below END,
       examined_below = CASE WHEN examined_below > :lowest THEN :lowest ELSE examined_below END
 WHERE account_id = :account_id
   AND model = :model

-- name: number_of
SELECT b.number
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND b.post_id = :post_id

-- name: mark_examined
-- Does nothing if a text changed since the build read the store.
UPDATE vector_store
   SET examined_below = :below
 WHERE account_id = :account_id
   AND model = :model
   AND invalidations = :seen_invalidations

-- name: accounts_to_build
-- Paid accounts, in pages: those with bookmarks without a vector, those that have all vectors but
-- were not yet marked as built, and those with bookmarks whose language is unknown. Only accounts
-- that need the second model have a store of it.
SELECT l.account_id,
       CASE WHEN l.total > coalesce(s.embedded, 0) THEN l.total - coalesce(s.embedded, 0)
            ELSE 0 END,
       CASE WHEN l.total > coalesce(t.embedded, l.total) THEN l.total - t.embedded
            ELSE 0 END
  FROM library AS l
  LEFT JOIN vector_store AS s ON s.account_id = l.account_id AND s.model = :model
  LEFT JOIN vector_store AS t ON t.account_id = l.account_id AND t.model = :second
 WHERE l.account_id > :after
   AND l.plan = :plan
   AND l.total > 0
   AND (l.total > coalesce(s.embedded, 0)
        OR NOT s.is_built
        OR l.total > t.embedded
        OR NOT t.is_built
        OR (:has_second = 1 AND t.model IS NULL
            AND EXISTS (SELECT 1 FROM bookmark AS b
                         WHERE b.account_id = l.account_id AND b.number >= s.examined_below)))
 ORDER BY l.account_id
 LIMIT :limit

-- name: build_error
-- The error of the build that started last; NULL if it succeeded.
SELECT j.error
  FROM job AS j
 WHERE j.account_id = :account_id
   AND j.kind = :kind
   AND j.started_at IS NOT NULL
 ORDER BY j.started_at DESC
 LIMIT 1

-- name: update_unpaid_since
-- Set when the account loses its paid plan, cleared when it pays again.
UPDATE vector_store
   SET unpaid_since = CASE WHEN EXISTS (SELECT 1 FROM library AS l
                                         WHERE l.account_id = vector_store.account_id
                                           AND l.plan = :plan)
                           THEN NULL ELSE coalesce(unpaid_since, CAST(:now AS bigint)) END
 WHERE (unpaid_since IS NULL) <> EXISTS (SELECT 1 FROM library AS l
                                          WHERE l.account_id = vector_store.account_id
                                            AND l.plan = :plan)

-- name: expired
SELECT s.account_id, s.model
  FROM vector_store AS s
 WHERE {expired_condition}
 ORDER BY s.account_id, s.model
 LIMIT :limit

-- name: is_expired
SELECT s.model
  FROM vector_store AS s
 WHERE s.account_id = :account_id
   AND s.model = :store
   AND {expired_condition}

-- name: expired_condition
-- Stores of accounts without a paid plan, and stores of a former model, once those of the present
-- models are built.
((s.unpaid_since < :unpaid_before
  AND NOT EXISTS (SELECT 1 FROM library AS l
                   WHERE l.account_id = s.account_id AND l.plan = :plan))
 OR EXISTS (SELECT 1 FROM vector_store AS n
             WHERE n.account_id = s.account_id
               AND n.model = :model
               AND n.model <> s.model
               AND s.model <> :second
               AND n.is_built
               AND NOT EXISTS (SELECT 1 FROM vector_store AS o
                                WHERE o.account_id = s.account_id
                                  AND o.model = :second
                                  AND NOT o.is_built)))

-- name: delete_some_vectors
DELETE FROM vector
 WHERE account_id = :account_id
   AND model = :model
   AND number IN (SELECT v.number
                    FROM vector AS v
                   WHERE v.account_id = :account_id
                     AND v.model = :model
                   ORDER BY v.number
                   LIMIT :limit)
RETURNING CASE WHEN length(text_hash) > 0 THEN 1 ELSE 0 END

-- name: update_after_removal
-- The store no longer serves searches, and the next build starts from the first bookmark.
UPDATE vector_store
   SET embedded = embedded - :count,
       is_built = FALSE,
       complete_below = 0,
       invalidations = invalidations + 1,
       generation = generation + 1
 WHERE account_id = :account_id
   AND model = :model

-- name: delete_empty_store
DELETE FROM vector_store
 WHERE account_id = :account_id
   AND model = :model
   AND NOT EXISTS (SELECT 1 FROM vector AS v
                    WHERE v.account_id = :account_id AND v.model = :model)

-- name: parts
SELECT p.written, p.number, p.content
  FROM vector_part AS p
 WHERE p.account_id = :account_id
   AND p.model = :model
   AND (p.written, p.number) > (:written, :number)
 ORDER BY p.written, p.number
 LIMIT :limit

-- name: part_ends
SELECT p.written, p.number, p.posts
  FROM vector_part AS p
 WHERE p.account_id = :account_id
   AND p.model = :model
 ORDER BY p.written, p.number

-- name: count_between
SELECT count(*)
  FROM vector AS v
 WHERE v.account_id = :account_id
   AND v.model = :model
   AND (v.written, v.number) > (:written, :number)
   AND (v.written, v.number) <= (:last_written, :last_number)

-- name: put_part
-- Reads from vector_store, so that a store that was removed gets no new row.
INSERT INTO vector_part (account_id, model, written, number, posts, content)
SELECT s.account_id, s.model, CAST(:written AS bigint), CAST(:number AS bigint),
       CAST(:posts AS bigint), CAST(:content AS bytea)
  FROM vector_store AS s
 WHERE s.account_id = :account_id
   AND s.model = :model
    ON CONFLICT (account_id, model, written, number) DO UPDATE
   SET posts = excluded.posts,
       content = excluded.content

-- name: delete_parts
DELETE FROM vector_part
 WHERE account_id = :account_id
   AND model = :model

-- name: bookmarks
SELECT b.number, b.content_hash,
       EXISTS (SELECT 1 FROM vector AS v
                WHERE v.account_id = :account_id AND v.number = b.number AND v.model = :model
                  AND length(v.text_hash) > 0)
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND b.number = ANY(CAST(:numbers AS bigint[]))

-- name: text_hashes
-- Without those of stale vectors.
SELECT v.number, v.model, v.text_hash
  FROM vector AS v
 WHERE v.account_id = :account_id
   AND v.number = ANY(CAST(:numbers AS bigint[]))
   AND length(v.text_hash) > 0

-- name: number_text
SELECT string_agg(CAST(v.number AS text), ',')
  FROM vector AS v
 WHERE v.account_id = :account_id
   AND v.model = :model
