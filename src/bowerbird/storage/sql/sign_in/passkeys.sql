-- name: insert
-- Reads from library, so that a deleted account gets no row. The browser does not register a
-- passkey twice, so a known credential is refused too.
INSERT INTO passkey (account_id, credential_id, passkey_id, public_key, sign_count, name,
                     transports, created_at)
SELECT l.account_id, :credential_id, CAST(:passkey_id AS text), :public_key,
       CAST(:sign_count AS bigint), CAST(:name AS text), CAST(:transports AS text),
       CAST(:created_at AS bigint)
  FROM library AS l
 WHERE l.account_id = :account_id
    ON CONFLICT (account_id, credential_id) DO NOTHING
RETURNING passkey_id

-- name: list
SELECT k.credential_id, k.passkey_id, k.public_key, k.sign_count, k.name, k.transports,
       k.created_at, k.last_used_at
  FROM passkey AS k
 WHERE k.account_id = :account_id
 ORDER BY k.created_at, k.passkey_id
 LIMIT :limit

-- name: by_credential
SELECT k.credential_id, k.passkey_id, k.public_key, k.sign_count, k.name, k.transports,
       k.created_at, k.last_used_at
  FROM passkey AS k
 WHERE k.account_id = :account_id
   AND k.credential_id = :credential_id

-- name: use
-- Returns no row if the passkey was removed, or if its counter did not grow. Passkeys that are
-- synchronised between devices do not count: for them it stays 0.
UPDATE passkey
   SET sign_count = :sign_count,
       last_used_at = :used_at
 WHERE account_id = :account_id
   AND credential_id = :credential_id
   AND (sign_count < :sign_count OR (sign_count = 0 AND :sign_count = 0))
RETURNING passkey_id

-- name: rename
UPDATE passkey
   SET name = :name
 WHERE account_id = :account_id
   AND passkey_id = :passkey_id
RETURNING passkey_id

-- name: remove
DELETE FROM passkey
 WHERE account_id = :account_id
   AND passkey_id = :passkey_id
RETURNING name
