-- name: set_flags
UPDATE bookmark
   SET is_read = :is_read, is_archived = :is_archived
 WHERE account_id = :account_id
   AND number = :number

-- name: remove_bookmark
DELETE FROM bookmark
 WHERE account_id = :account_id
   AND number = :number

-- name: uncount_vectors
-- Stale vectors are not counted.
UPDATE vector_store
   SET embedded = embedded - 1
 WHERE account_id = :account_id
   AND model IN (SELECT v.model FROM vector AS v
                  WHERE v.account_id = :account_id AND v.number = :number
                    AND length(v.text_hash) > 0)

-- name: remove_vectors
DELETE FROM vector
 WHERE account_id = :account_id
   AND number = :number
