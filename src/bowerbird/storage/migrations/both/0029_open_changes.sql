-- compatible: yes
-- Every change of posts is kept for an hour, and few of them are open.
CREATE INDEX bulk_change_open ON bulk_change (account_id, position, number)
 WHERE finished_at IS NULL;
