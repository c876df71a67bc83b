-- name: of
SELECT a.typed, a.meaning
  FROM abbreviation AS a
 WHERE a.account_id = :account_id
   AND a.typed = ANY(CAST(:typed AS text[]))
 ORDER BY a.typed, a.meaning

-- name: latest
SELECT count(*), COALESCE(max(a.explained), 0)
  FROM abbreviation AS a
 WHERE a.account_id = :account_id

-- name: add
INSERT INTO abbreviation (account_id, typed, meaning, explained)
VALUES (:account_id, :typed, :meaning, :explained)
    ON CONFLICT (account_id, typed, meaning) DO UPDATE SET explained = EXCLUDED.explained

-- name: forget
-- Both directions leave together. Those that 0.9.0 learnt have no order: all meanings of one leave.
DELETE FROM abbreviation
 WHERE account_id = :account_id
   AND (explained, CASE WHEN typed = replace(typed, ' ', '') THEN typed ELSE meaning END) IN (
       SELECT a.explained,
              CASE WHEN a.typed = replace(a.typed, ' ', '') THEN a.typed ELSE a.meaning END
         FROM abbreviation AS a
        WHERE a.account_id = :account_id
        ORDER BY a.explained, 2
        LIMIT :forgotten)
