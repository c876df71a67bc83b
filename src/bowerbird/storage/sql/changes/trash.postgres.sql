-- name: empty
-- Skips rows that another node is removing. The ARRAY makes PostgreSQL choose the rows once.
DELETE FROM trash
 WHERE account_id = :account_id
   AND post_id = ANY(ARRAY(SELECT t.post_id
                             FROM trash AS t
                            WHERE t.account_id = :account_id
                              AND t.trashed_at < :before
                            ORDER BY t.trashed_at
                            LIMIT :most
                              FOR UPDATE SKIP LOCKED))
RETURNING post_id
