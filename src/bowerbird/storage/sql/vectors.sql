-- name: stores
SELECT s.model, s.name, s.dimensions, s.embedded, s.complete_below, s.invalidations,
       s.generation, s.is_built
  FROM vector_store AS s
 WHERE s.account_id = :account_id

-- name: make_store
-- Only beside a library: an account that is being deleted gets no row any more. Both counters
-- begin with the time, so that a store made again is never taken for the one it replaces.
INSERT INTO vector_store (account_id, model, name, dimensions, embedded, complete_below,
                          invalidations, generation, is_built, unpaid_since)
SELECT l.account_id, CAST(:model AS {bytes}), CAST(:name AS text), 0, 0, 0,
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

-- name: note_written
-- A build knows no more where it is complete when a vector became stale meanwhile.
UPDATE vector_store
   SET embedded = embedded + :added,
       generation = :generation,
       dimensions = :dimensions,
       complete_below = CASE WHEN invalidations = :seen_invalidations THEN :complete_below
                             ELSE complete_below END
 WHERE account_id = :account_id
   AND model = :model

-- name: note_built
UPDATE vector_store
   SET is_built = TRUE, generation = generation + 1
 WHERE account_id = :account_id
   AND model = :model
   AND NOT is_built
   AND embedded >= (SELECT l.total FROM library AS l WHERE l.account_id = :account_id)

-- name: rows_since
-- In the order of their writing, from a place on.
SELECT v.number, v.scales, v.vectors, v.written
  FROM vector AS v
 WHERE v.account_id = :account_id
   AND v.model = :model
   AND (v.written, v.number) > (:written, :number)
 ORDER BY v.written, v.number
 LIMIT :limit

-- name: drop_vector
DELETE FROM vector
 WHERE account_id = :account_id
   AND number = :number
   AND model = :model

-- name: note_stale
UPDATE vector_store
   SET embedded = embedded - :count,
       invalidations = invalidations + 1,
       generation = generation + 1,
       complete_below = CASE WHEN complete_below > :lowest THEN :lowest ELSE complete_below END
 WHERE account_id = :account_id
   AND model = :model

-- name: number_of
SELECT b.number
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND b.post_id = :post_id

-- name: waiting
-- Of paid accounts after one: those with bookmarks that have no vector of this model, and those
-- whose vectors nobody has called complete yet, though none may be missing any more.
SELECT l.account_id,
       CASE WHEN l.total > coalesce(s.embedded, 0) THEN l.total - coalesce(s.embedded, 0)
            ELSE 0 END
  FROM library AS l
  LEFT JOIN vector_store AS s ON s.account_id = l.account_id AND s.model = :model
 WHERE l.account_id > :after
   AND l.plan = :plan
   AND l.total > 0
   AND (l.total > coalesce(s.embedded, 0) OR NOT s.is_built)
 ORDER BY l.account_id
 LIMIT :limit

-- name: build_error
-- Of the build that was begun last; none once one has ended well.
SELECT j.error
  FROM job AS j
 WHERE j.account_id = :account_id
   AND j.kind = :kind
   AND j.started_at IS NOT NULL
 ORDER BY j.started_at DESC
 LIMIT 1

-- name: note_paid
-- Starts or ends the time that an account's vectors wait for its plan.
UPDATE vector_store
   SET unpaid_since = CASE WHEN EXISTS (SELECT 1 FROM library AS l
                                         WHERE l.account_id = vector_store.account_id
                                           AND l.plan = :plan)
                           THEN NULL ELSE coalesce(unpaid_since, CAST(:now AS bigint)) END
 WHERE (unpaid_since IS NULL) <> EXISTS (SELECT 1 FROM library AS l
                                          WHERE l.account_id = vector_store.account_id
                                            AND l.plan = :plan)

-- name: outlived
SELECT s.account_id, s.model
  FROM vector_store AS s
 WHERE {condition}
 ORDER BY s.account_id, s.model
 LIMIT :limit

-- name: is_outlived
SELECT s.model
  FROM vector_store AS s
 WHERE s.account_id = :account_id
   AND s.model = :held
   AND {condition}

-- name: outlived_condition
-- Of stores that nobody pays for any more, and of those of a model whose successor is built.
((s.unpaid_since < :unpaid_before
  AND NOT EXISTS (SELECT 1 FROM library AS l
                   WHERE l.account_id = s.account_id AND l.plan = :plan))
 OR EXISTS (SELECT 1 FROM vector_store AS n
             WHERE n.account_id = s.account_id
               AND n.model = :model
               AND n.model <> s.model
               AND n.is_built))

-- name: some_vectors
DELETE FROM vector
 WHERE account_id = :account_id
   AND model = :model
   AND number IN (SELECT v.number
                    FROM vector AS v
                   WHERE v.account_id = :account_id
                     AND v.model = :model
                   ORDER BY v.number
                   LIMIT :most)
RETURNING number

-- name: note_removed
-- From here on the store answers nobody, and a build looks through everything.
UPDATE vector_store
   SET embedded = embedded - :count,
       is_built = FALSE,
       complete_below = 0,
       invalidations = invalidations + 1,
       generation = generation + 1
 WHERE account_id = :account_id
   AND model = :model

-- name: drop_store
DELETE FROM vector_store
 WHERE account_id = :account_id
   AND model = :model
   AND NOT EXISTS (SELECT 1 FROM vector AS v
                    WHERE v.account_id = :account_id AND v.model = :model)
