-- name: take_local_number
INSERT INTO local_account (account_id)
VALUES (:account_id)
RETURNING local_number

-- name: renew_epochs
UPDATE library SET epoch = abs(random() / 2)
