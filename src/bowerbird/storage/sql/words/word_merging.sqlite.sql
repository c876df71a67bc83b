-- name: pause_index_merge
-- FTS5 merges its index in steps of 64 pages and more. A deleted post counts as a page, so every
-- second turn of a deletion had such a step, and some took 0.2 s.
INSERT INTO keyword (keyword, rank) VALUES ('automerge', 0)

-- name: merge_index
-- At most this many pages.
INSERT INTO keyword (keyword, rank) VALUES ('merge', :pages)

-- name: resume_index_merge
-- The default of FTS5.
INSERT INTO keyword (keyword, rank) VALUES ('automerge', 4)
