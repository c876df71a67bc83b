-- name: spend
-- Returns no row if it was spent before.
INSERT INTO spent_attempt (attempt_hash, expires_at)
VALUES (:attempt_hash, :expires_at)
    ON CONFLICT (attempt_hash) DO NOTHING
RETURNING expires_at

-- name: remove_expired
DELETE FROM spent_attempt
 WHERE attempt_hash IN (SELECT a.attempt_hash
                          FROM spent_attempt AS a
                         WHERE a.expires_at < :now
                         ORDER BY a.expires_at
                         LIMIT :limit)
RETURNING attempt_hash
