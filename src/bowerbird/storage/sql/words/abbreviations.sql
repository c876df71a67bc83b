-- name: of
SELECT a.typed, a.meaning
  FROM abbreviation AS a
 WHERE a.account_id = :account_id
   AND a.typed = ANY(CAST(:typed AS text[]))
 ORDER BY a.typed, a.meaning

-- name: total
SELECT count(*)
  FROM abbreviation AS a
 WHERE a.account_id = :account_id

-- name: add
INSERT INTO abbreviation (account_id, typed, meaning)
VALUES (:account_id, :typed, :meaning)
    ON CONFLICT (account_id, typed, meaning) DO NOTHING
