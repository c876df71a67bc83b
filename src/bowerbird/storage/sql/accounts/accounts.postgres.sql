-- name: take_local_number
SELECT 0 WHERE CAST(:account_id AS bigint) IS NOT NULL

-- name: renew_epochs
UPDATE library SET epoch = CAST(floor(random() * 4611686018427387904) AS bigint)
