-- name: set_tags
UPDATE content
   SET tags = :tags
 WHERE account_id = :account_id
   AND number = :number

-- name: remove_content
DELETE FROM content
 WHERE account_id = :account_id
   AND number = ANY(CAST(:numbers AS bigint[]))

-- name: remove_words
DELETE FROM keyword
 WHERE account_id = :account_id
   AND number = ANY(CAST(:numbers AS bigint[]))
