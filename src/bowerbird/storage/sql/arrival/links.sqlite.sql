-- name: states
-- Of those that are only links.
SELECT b.post_id, k.state, k.reason
  FROM json_each(:post_ids) AS wanted
  CROSS JOIN bookmark AS b ON b.account_id = :account_id AND b.post_id = wanted.value
  LEFT JOIN bare_link AS k ON k.account_id = :account_id AND k.post_id = b.post_id
 WHERE b.completeness = 0
