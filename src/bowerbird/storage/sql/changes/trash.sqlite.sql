-- name: empty
DELETE FROM trash
 WHERE account_id = :account_id
   AND post_id IN (SELECT t.post_id
                     FROM trash AS t
                    WHERE t.account_id = :account_id
                      AND t.trashed_at < :before
                    ORDER BY t.trashed_at
                    LIMIT :most)
RETURNING post_id
