-- name: merged_from
-- How many segments of a level FTS5 merges when it is asked to.
SELECT c.v
  FROM keyword_config AS c
 WHERE c.k = 'usermerge'

-- name: set_merged_from
-- By default it is four, and every level keeps up to three.
INSERT INTO keyword (keyword, rank) VALUES ('usermerge', 2)

-- name: merge
-- Writes about this many pages of 4 kB.
INSERT INTO keyword (keyword, rank) VALUES ('merge', 64)

-- name: changes
SELECT total_changes()
