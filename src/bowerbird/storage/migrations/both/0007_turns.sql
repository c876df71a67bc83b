-- compatible: yes
-- Whose turn it is in the queue, and who is at work already: both are walked entry by entry, so
-- that a claim reads as little of a long queue as of a short one. The queue is one for all
-- accounts and its urgent jobs come first, so the priority leads here.
CREATE INDEX job_turn ON job (priority, account_id, due_at, created_at, job_id, kind)
 WHERE completed_at IS NULL;
CREATE INDEX job_at_work ON job (account_id, due_at) WHERE state = 'processing';
