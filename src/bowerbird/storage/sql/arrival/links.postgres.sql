-- name: states
-- Of those that are only links.
SELECT b.post_id, k.state, k.reason
  FROM bookmark AS b
  LEFT JOIN bare_link AS k ON k.account_id = :account_id AND k.post_id = b.post_id
 WHERE b.account_id = :account_id
   AND b.post_id = ANY(CAST(:post_ids AS text[]))
   AND b.completeness = 0
