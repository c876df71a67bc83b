-- name: usage
SELECT count(*), coalesce(sum(k.size), 0)
  FROM kept_page AS k
 WHERE k.account_id = :account_id

-- name: count
SELECT count(*)
  FROM kept_page AS k
 WHERE k.account_id = :account_id
   AND k.problem = :problem

-- name: insert
INSERT INTO kept_page (account_id, kept_id, run_id, seq, op, request_url, format, captured_at,
                       problem, size, created_at, body)
SELECT l.account_id, CAST(:kept_id AS text), CAST(:run_id AS text), CAST(:seq AS bigint),
       CAST(:op AS text), CAST(:request_url AS text), CAST(:format AS text),
       CAST(:captured_at AS bigint), CAST(:problem AS text), CAST(:size AS bigint),
       CAST(:created_at AS bigint), :body
  FROM library AS l
 WHERE l.account_id = :account_id
    ON CONFLICT (account_id, kept_id) DO NOTHING

-- name: heads
SELECT k.format, k.op, k.request_url, k.kept_id, k.problem
  FROM kept_page AS k
 WHERE k.account_id = :account_id
 ORDER BY k.created_at, k.kept_id

-- name: page
SELECT k.format, k.op, k.request_url, k.kept_id, k.problem, k.run_id, k.seq, k.captured_at, k.body,
       k.created_at
  FROM kept_page AS k
 WHERE k.account_id = :account_id
   AND k.kept_id = :kept_id

-- name: delete
DELETE FROM kept_page
 WHERE account_id = :account_id
   AND kept_id = :kept_id

-- name: old
DELETE FROM kept_page
 WHERE account_id = :account_id
   AND kept_id IN (SELECT k.kept_id
                     FROM kept_page AS k
                    WHERE k.account_id = :account_id
                      AND k.created_at < :before
                    ORDER BY k.created_at
                    LIMIT :most)
RETURNING kept_id
