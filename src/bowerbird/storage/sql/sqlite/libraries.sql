-- name: lock
-- Needs no lock: the transaction of the writer already locks the whole file. So the last two columns,
-- which save most writes two statements, hold until the end of the transaction.
SELECT l.local_number, l.next_number, l.next_label_id, l.version,
       EXISTS (SELECT 1
                 FROM label AS renamed INDEXED BY label_renamed
                WHERE renamed.account_id = :account_id
                  AND renamed.former_name IS NOT NULL),
       EXISTS (SELECT 1 FROM bulk_change AS c WHERE c.account_id = :account_id)
  FROM library AS l
 WHERE l.account_id = :account_id
