-- name: columns
c.connection_id, c.network, c.server, c.source_user_id, c.name, c.state, c.problem, c.sealed,
       c.version, c.interval_s, c.run_id, c.failures, c.next_run_at, c.last_run_at, c.new,
       c.changed, c.total, c.posts_per_day, c.spent_day, c.spent, c.folders_day, c.created_at,
       c.folders_left

-- name: insert
-- Reads from library, so that a deleted account gets no row.
INSERT INTO source_connection (account_id, connection_id, network, server, source_user_id, name,
                               state, problem, sealed, version, interval_s, run_id, failures,
                               next_run_at, last_run_at, new, changed, total, posts_per_day,
                               spent_day, spent, folders_day, created_at)
SELECT l.account_id, CAST(:connection_id AS text), CAST(:network AS text), CAST(:server AS text),
       CAST(:source_user_id AS text), CAST(:name AS text), CAST(:state AS text), '', :sealed, 1,
       CAST(:interval_s AS bigint), '', 0, CAST(:next_run_at AS bigint), NULL, 0, 0, 0,
       CAST(:posts_per_day AS bigint), 0, 0, 0, CAST(:created_at AS bigint)
  FROM library AS l
 WHERE l.account_id = :account_id
   AND (SELECT count(*) FROM source_connection AS c
         WHERE c.account_id = :account_id) < CAST(:most AS bigint)
RETURNING connection_id

-- name: list
SELECT {columns}
  FROM source_connection AS c
 WHERE c.account_id = :account_id
 ORDER BY c.created_at, c.connection_id

-- name: one
SELECT {columns}
  FROM source_connection AS c
 WHERE c.account_id = :account_id
   AND c.connection_id = :connection_id

-- name: by_user
SELECT {columns}
  FROM source_connection AS c
 WHERE c.account_id = :account_id
   AND c.network = :network
   AND c.source_user_id = :source_user_id
   AND c.source_user_id <> ''

-- name: due
SELECT {columns}
  FROM source_connection AS c
 WHERE c.account_id = :account_id
   AND c.state = 'active'
   AND c.next_run_at <= :now
 ORDER BY c.next_run_at, c.connection_id

-- name: due_accounts
SELECT DISTINCT c.account_id
  FROM source_connection AS c
 WHERE c.account_id > :after
   AND c.state = 'active'
   AND c.next_run_at <= :now
 ORDER BY c.account_id
 LIMIT :limit

-- name: delete
DELETE FROM source_connection
 WHERE account_id = :account_id
   AND connection_id = :connection_id
RETURNING network, name

-- name: connected
-- The person has connected, perhaps again: other tokens, and nothing is wrong any more. A run
-- belongs to one account at the network.
UPDATE source_connection
   SET run_id = CASE WHEN source_user_id = :source_user_id THEN run_id ELSE '' END,
       server = :server, source_user_id = :source_user_id, name = :name, state = :state,
       problem = '', sealed = :sealed, version = version + 1, failures = 0,
       next_run_at = :next_run_at
 WHERE account_id = :account_id
   AND connection_id = :connection_id
RETURNING connection_id

-- name: put_tokens
-- Returns no row if the tokens were changed by somebody else.
UPDATE source_connection
   SET sealed = :sealed, version = version + 1
 WHERE account_id = :account_id
   AND connection_id = :connection_id
   AND version = :version
RETURNING version

-- name: set_state
UPDATE source_connection
   SET state = :state, next_run_at = :next_run_at
 WHERE account_id = :account_id
   AND connection_id = :connection_id
   AND state <> 'unfinished'
RETURNING connection_id

-- name: set_bounds
UPDATE source_connection
   SET interval_s = :interval_s, posts_per_day = :posts_per_day
 WHERE account_id = :account_id
   AND connection_id = :connection_id
RETURNING connection_id

-- name: start_run
UPDATE source_connection
   SET run_id = :run_id
 WHERE account_id = :account_id
   AND connection_id = :connection_id
   AND run_id = ''
RETURNING connection_id

-- name: end_run
-- Its counts are added once, because the run ends once.
UPDATE source_connection
   SET run_id = '', problem = '', failures = 0, next_run_at = :next_run_at, last_run_at = :now,
       new = :new, changed = :changed, total = total + :new
 WHERE account_id = :account_id
   AND connection_id = :connection_id
   AND run_id = :run_id
RETURNING connection_id

-- name: leave_run
-- Its list cannot be continued. The next run starts at the top.
UPDATE source_connection
   SET run_id = ''
 WHERE account_id = :account_id
   AND connection_id = :connection_id
   AND run_id = :run_id

-- name: fail
-- Not if the person has connected again since: the failure was of the old tokens.
UPDATE source_connection
   SET problem = :problem, failures = :failures, next_run_at = :next_run_at, last_run_at = :now
 WHERE account_id = :account_id
   AND connection_id = :connection_id
   AND version = :version

-- name: spend
UPDATE source_connection
   SET spent = CASE WHEN spent_day = :today THEN spent ELSE 0 END + :posts, spent_day = :today
 WHERE account_id = :account_id
   AND connection_id = :connection_id
   AND CASE WHEN spent_day = :today THEN spent ELSE 0 END + :posts <= posts_per_day
RETURNING connection_id

-- name: give_back
UPDATE source_connection
   SET spent = spent - :posts
 WHERE account_id = :account_id
   AND connection_id = :connection_id
   AND spent_day = :today

-- name: leave_folders
-- Of a run that goes on.
UPDATE source_connection
   SET folders_left = :left
 WHERE account_id = :account_id
   AND connection_id = :connection_id
   AND run_id = :run_id

-- name: note_folders
UPDATE source_connection
   SET folders_day = :today, folders_left = ''
 WHERE account_id = :account_id
   AND connection_id = :connection_id
