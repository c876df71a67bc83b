-- name: bound_wait
-- The writer's transaction waits for nothing.
SELECT 1

-- name: unbound_wait
SELECT 1
