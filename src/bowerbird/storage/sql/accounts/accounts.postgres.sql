-- name: take_local_number
SELECT 0 WHERE CAST(:account_id AS bigint) IS NOT NULL

-- name: renew_epochs
UPDATE library SET epoch = CAST(date_part('epoch', statement_timestamp()) * 1000000 AS bigint)
