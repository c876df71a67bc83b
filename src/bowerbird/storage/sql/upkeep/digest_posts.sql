-- name: candidate
b.number, b.post_id, b.author_key, b.bookmarked_at,
b.quote_count, b.reply_count, b.retweet_count, b.bookmark_count, b.favorite_count

-- name: count_between
SELECT count(*)
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND b.bookmarked_at >= :start
   AND b.bookmarked_at < :end

-- name: between
SELECT {candidate}
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND b.bookmarked_at >= :start
   AND b.bookmarked_at < :end
 ORDER BY b.bookmarked_at DESC, b.number DESC
 LIMIT :limit

-- name: newest_unread
SELECT {candidate}
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND b.bookmarked_at < :end
   AND NOT b.is_read
   AND NOT b.is_archived
 ORDER BY b.bookmarked_at DESC, b.number DESC
 LIMIT :limit

-- name: oldest_unread
SELECT {candidate}
  FROM bookmark AS b
 WHERE b.account_id = :account_id
   AND b.bookmarked_at < :end
   AND NOT b.is_read
   AND NOT b.is_archived
 ORDER BY b.bookmarked_at, b.number
 LIMIT :limit

-- name: vectors
SELECT v.number, v.scales, v.vectors
  FROM vector AS v
 WHERE v.account_id = :account_id
   AND v.number = ANY(CAST(:numbers AS bigint[]))
   AND v.model = :model
 ORDER BY v.number

-- name: posts
SELECT b.post_id,
       {rendered},
       c.tags, CAST(b.is_read AS integer) + 2 * CAST(b.is_archived AS integer)
  FROM bookmark AS b INDEXED BY bookmark_by_post
  JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
 WHERE b.account_id = :account_id
   AND b.post_id = ANY(CAST(:post_ids AS text[]))
