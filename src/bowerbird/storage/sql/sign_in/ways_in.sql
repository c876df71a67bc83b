-- name: passkeys
SELECT count(*)
  FROM passkey AS k
 WHERE k.account_id = :account_id

-- name: issuers
-- One row per connected provider.
SELECT i.issuer
  FROM provider_identity AS i
 WHERE i.account_id = :account_id
