-- name: take_local_number
INSERT INTO local_account (account_id)
VALUES (:account_id)
RETURNING local_number

-- name: lock
-- The writer's transaction holds the whole file already.
SELECT l.version FROM library AS l WHERE l.account_id = :account_id

-- name: renew_epochs
UPDATE library SET epoch = abs(random() / 2)
