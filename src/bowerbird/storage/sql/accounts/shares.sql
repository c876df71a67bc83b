-- name: columns
s.share_id, s.account_id, s.address, s.audience, s.kind, s.target, s.is_on, s.is_stopped,
s.ends_at, s.choices, s.revision, s.created_at, s.updated_at

-- name: by_address
SELECT {columns}
  FROM share AS s
 WHERE s.address = :address

-- name: of_account
SELECT {columns}
  FROM share AS s
 WHERE s.account_id = :account_id
 ORDER BY s.created_at, s.share_id

-- name: by_id
SELECT {columns}
  FROM share AS s
 WHERE s.account_id = :account_id
   AND s.share_id = :share_id

-- name: count
SELECT count(*)
  FROM share AS s
 WHERE s.account_id = :account_id

-- name: page
-- Of all accounts, for the operator: the newest first, before a given one.
SELECT {columns}
  FROM share AS s
 WHERE (s.created_at, s.share_id) < (:created_at, :share_id)
 ORDER BY s.created_at DESC, s.share_id DESC
 LIMIT :limit

-- name: insert
-- Returns no row if the address is taken.
INSERT INTO share (share_id, account_id, address, audience, kind, target, is_on, is_stopped,
                   ends_at, choices, revision, created_at, updated_at)
VALUES (:share_id, :account_id, :address, :audience, :kind, :target, :is_on, :is_stopped,
        :ends_at, :choices, :revision, :created_at, :updated_at)
    ON CONFLICT (address) DO NOTHING
RETURNING share_id

-- name: update
UPDATE share
   SET address = :address, audience = :audience, is_on = :is_on, ends_at = :ends_at,
       choices = :choices, revision = :revision, updated_at = :updated_at
 WHERE account_id = :account_id
   AND share_id = :share_id

-- name: stop
-- By the operator, for any account.
UPDATE share
   SET is_stopped = :is_stopped, revision = revision + 1, updated_at = :now
 WHERE share_id = :share_id
RETURNING account_id, choices

-- name: delete
DELETE FROM share
 WHERE account_id = :account_id
   AND share_id = :share_id

-- name: end
-- What it shows is being deleted.
DELETE FROM share
 WHERE account_id = :account_id
   AND kind = :kind
   AND target = :target
