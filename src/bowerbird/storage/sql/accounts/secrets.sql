-- name: named
SELECT s.value, s.created_at
  FROM secret AS s
 WHERE s.name = :name

-- name: add
INSERT INTO secret (name, value, created_at)
VALUES (:name, :value, :now)
    ON CONFLICT (name) DO NOTHING

-- name: delete
DELETE FROM secret
 WHERE name = :name
