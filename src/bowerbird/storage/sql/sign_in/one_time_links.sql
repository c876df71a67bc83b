-- name: insert
INSERT INTO one_time_link (link_hash, link_id, kind, account_id, detail, created_at, expires_at)
VALUES (:link_hash, :link_id, :kind, :account_id, :detail, :created_at, :expires_at)

-- name: by_hash
SELECT k.link_id, k.kind, k.account_id, k.detail, k.created_at, k.expires_at, k.used_at
  FROM one_time_link AS k
 WHERE k.link_hash = :link_hash
   AND k.used_at IS NULL
   AND k.expires_at > :now

-- name: redeem
UPDATE one_time_link
   SET used_at = :now
 WHERE link_hash = :link_hash
   AND kind = ANY(CAST(:kinds AS text[]))
   AND used_at IS NULL
   AND expires_at > :now
RETURNING link_id, kind, account_id, detail, created_at, expires_at, used_at

-- name: by_id
-- Used and expired ones too, as long as they are stored.
SELECT k.link_id, k.kind, k.account_id, k.detail, k.created_at, k.expires_at, k.used_at
  FROM one_time_link AS k
 WHERE k.account_id = :account_id
   AND k.kind = :kind
   AND k.link_id = :link_id

-- name: set_detail
UPDATE one_time_link
   SET detail = :detail
 WHERE link_hash = :link_hash

-- name: list
SELECT k.link_id, k.kind, k.account_id, k.detail, k.created_at, k.expires_at, k.used_at
  FROM one_time_link AS k
 WHERE k.account_id = :account_id
   AND k.kind = :kind
   AND k.used_at IS NULL
   AND k.expires_at > :now
 ORDER BY k.created_at DESC, k.link_id
 LIMIT :limit

-- name: count
SELECT count(*)
  FROM one_time_link AS k
 WHERE k.account_id = :account_id
   AND k.kind = :kind
   AND k.used_at IS NULL
   AND k.expires_at > :now

-- name: withdraw
DELETE FROM one_time_link
 WHERE account_id = :account_id
   AND kind = :kind
   AND link_id = :link_id
   AND used_at IS NULL
RETURNING link_id

-- name: withdraw_all
DELETE FROM one_time_link
 WHERE account_id = :account_id
   AND kind = :kind

-- name: remove_expired
DELETE FROM one_time_link
 WHERE account_id = :account_id
   AND kind = :kind
   AND (expires_at <= :now OR used_at IS NOT NULL)

-- name: remove_some
DELETE FROM one_time_link
 WHERE link_hash IN (SELECT k.link_hash
                       FROM one_time_link AS k
                      WHERE k.expires_at < :before
                      ORDER BY k.expires_at
                      LIMIT :limit)
RETURNING link_id
