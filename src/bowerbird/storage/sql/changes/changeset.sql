-- name: set_flags
UPDATE bookmark
   SET is_read = :is_read, is_archived = :is_archived
 WHERE account_id = :account_id
   AND number = :number
