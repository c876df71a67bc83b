-- name: pause_index_merge
-- Empty: PostgreSQL merges in the background.

-- name: merge_index
-- Empty, as above.

-- name: resume_index_merge
-- Empty, as above.
