-- name: count
SELECT (SELECT count(*) FROM passkey AS k WHERE k.account_id = :account_id),
       (SELECT count(*) FROM provider_identity AS i WHERE i.account_id = :account_id)
