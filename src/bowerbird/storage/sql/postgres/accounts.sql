-- name: take_local_number
SELECT 0 WHERE CAST(:account_id AS bigint) IS NOT NULL

-- name: lock
SELECT l.version FROM library AS l WHERE l.account_id = :account_id FOR UPDATE

-- name: renew_epochs
UPDATE library SET epoch = CAST(floor(random() * 4611686018427387904) AS bigint)
