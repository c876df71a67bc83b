-- name: insert
-- Reads from library, so that a deleted account gets no row. Returns no row if the identity belongs
-- to an account already.
INSERT INTO provider_identity (issuer, subject, account_id, identity_id, shown, created_at,
                               last_used_at)
SELECT CAST(:issuer AS text), CAST(:subject AS text), l.account_id, CAST(:identity_id AS text),
       CAST(:shown AS text), CAST(:created_at AS bigint), CAST(:created_at AS bigint)
  FROM library AS l
 WHERE l.account_id = :account_id
    ON CONFLICT (issuer, subject) DO NOTHING
RETURNING identity_id

-- name: list
SELECT i.issuer, i.subject, i.identity_id, i.shown, i.created_at, i.last_used_at
  FROM provider_identity AS i
 WHERE i.account_id = :account_id
 ORDER BY i.created_at, i.identity_id
 LIMIT :limit

-- name: account_of
SELECT i.account_id
  FROM provider_identity AS i
 WHERE i.issuer = :issuer
   AND i.subject = :subject

-- name: use
-- Returns no row if the identity was disconnected, or belongs to another account.
UPDATE provider_identity
   SET shown = :shown,
       last_used_at = :used_at
 WHERE issuer = :issuer
   AND subject = :subject
   AND account_id = :account_id
RETURNING identity_id

-- name: of_issuer
SELECT i.identity_id
  FROM provider_identity AS i
 WHERE i.account_id = :account_id
   AND i.issuer = :issuer

-- name: remove
DELETE FROM provider_identity
 WHERE account_id = :account_id
   AND identity_id = :identity_id
RETURNING issuer
