-- name: bound_wait
-- How long a repeated request waits for the first one with its key.
SET LOCAL lock_timeout = '5s'

-- name: unbound_wait
SET LOCAL lock_timeout = 0
