-- name: lock
-- Needs no lock: the transaction of the writer already locks the whole file. So the last three
-- columns, which save most writes as many statements, hold until the end of the transaction.
SELECT l.local_number, l.next_number, l.next_label_id, l.version,
       EXISTS (SELECT 1
                 FROM label AS renamed INDEXED BY label_renamed
                WHERE renamed.account_id = :account_id
                  AND renamed.former_name IS NOT NULL),
       coalesce((SELECT max(c.number) FROM bulk_change AS c WHERE c.account_id = :account_id), 0),
       EXISTS (SELECT 1
                 FROM bulk_change AS c INDEXED BY bulk_change_open
                WHERE c.account_id = :account_id
                  AND c.finished_at IS NULL)
  FROM library AS l
 WHERE l.account_id = :account_id
