-- name: account
SELECT m.is_keeping, m.is_clearing, m.files, m.bytes, m.full_at, m.epoch, m.version,
       m.looked_at
  FROM media_account AS m
 WHERE m.account_id = :account_id

-- name: switch
-- Reads from library, so that an account that is being deleted gets no new row.
INSERT INTO media_account (account_id, is_keeping, is_clearing, files, bytes, full_at, epoch,
                           version, looked_at, due_at)
SELECT l.account_id, CAST(:is_keeping AS boolean), FALSE, 0, 0, 0, 0, 0, 0, 0
  FROM library AS l
 WHERE l.account_id = :account_id
    ON CONFLICT (account_id) DO UPDATE
   SET is_keeping = excluded.is_keeping, epoch = 0, due_at = 0

-- name: begin
-- An account keeps images unless it turned that off, which left a row.
INSERT INTO media_account (account_id, is_keeping, is_clearing, files, bytes, full_at, epoch,
                           version, looked_at, due_at)
SELECT l.account_id, TRUE, FALSE, 0, 0, 0, 0, 0, 0, 0
  FROM library AS l
 WHERE l.account_id = :account_id
    ON CONFLICT (account_id) DO NOTHING

-- name: clear
UPDATE media_account
   SET is_keeping = FALSE, is_clearing = TRUE, due_at = 0
 WHERE account_id = :account_id

-- name: cleared
-- The next look finds all posts again, if the account keeps images again.
UPDATE media_account
   SET is_clearing = FALSE, full_at = 0, epoch = 0
 WHERE account_id = :account_id

-- name: looked
UPDATE media_account
   SET epoch = :epoch, version = :version, looked_at = :now
 WHERE account_id = :account_id

-- name: postpone_account
UPDATE media_account
   SET due_at = :due_at
 WHERE account_id = :account_id

-- name: due_accounts
-- Accounts whose library has changed, whose last look was long ago, or whose images are due.
-- An account without a row has not been looked at.
SELECT l.account_id
  FROM library AS l
  LEFT JOIN media_account AS m ON m.account_id = l.account_id
 WHERE l.account_id > :after
   AND ((m.account_id IS NULL AND :is_on AND l.total > 0)
        OR (m.due_at <= :now
            AND (m.is_clearing
                 OR ((m.is_keeping OR m.files > 0)
                     AND (m.epoch <> l.epoch OR m.version <> l.version
                          OR m.looked_at < :looked_before))
                 OR (m.is_keeping AND :is_on AND m.full_at <> :quota
                     AND EXISTS (SELECT 1 FROM media_source AS s
                                  WHERE s.account_id = l.account_id
                                    AND s.state = 'waiting' AND s.due_at <= :now)))))
 ORDER BY l.account_id
 LIMIT :limit

-- name: accounts_with_files
SELECT m.account_id
  FROM media_account AS m
 WHERE m.account_id > :after
 ORDER BY m.account_id
 LIMIT :limit

-- name: totals
-- Of all accounts, for the operator.
SELECT s.state, count(*)
  FROM media_source AS s
 GROUP BY s.state

-- name: room_used
SELECT CAST(coalesce(sum(m.bytes), 0) AS bigint),
       CAST(coalesce(sum(CASE WHEN m.full_at = :quota THEN 1 ELSE 0 END), 0) AS bigint)
  FROM media_account AS m

-- name: kept_page
SELECT s.url_key, s.url, f.media_id, f.type, f.bytes, f.width, f.height
  FROM media_source AS s
  JOIN media_file AS f ON f.account_id = :account_id AND f.media_id = s.media_id
 WHERE s.account_id = :account_id
   AND s.url_key > :after
 ORDER BY s.url_key
 LIMIT :limit

-- name: counts
SELECT s.state, s.reason, count(*)
  FROM media_source AS s
 WHERE s.account_id = :account_id
 GROUP BY s.state, s.reason

-- name: unknown_posts
-- Posts whose images are not known, or whose content has changed since.
SELECT b.number, b.post_id, b.content_hash, c.rendering
  FROM bookmark AS b
  JOIN content AS c ON c.account_id = b.account_id AND c.number = b.number
 WHERE b.account_id = :account_id
   AND b.number > :after
   AND NOT EXISTS (SELECT 1 FROM media_post AS p
                    WHERE p.account_id = :account_id AND p.post_id = b.post_id
                      AND p.content_hash = b.content_hash)
 ORDER BY b.number
 LIMIT :limit

-- name: put_post
INSERT INTO media_post (account_id, post_id, content_hash)
VALUES (:account_id, :post_id, :content_hash)
    ON CONFLICT (account_id, post_id) DO UPDATE
   SET content_hash = excluded.content_hash

-- name: put_link
INSERT INTO media_link (account_id, post_id, url_key)
VALUES (:account_id, :post_id, :url_key)
    ON CONFLICT (account_id, post_id, url_key) DO NOTHING

-- name: delete_link
DELETE FROM media_link
 WHERE account_id = :account_id
   AND post_id = :post_id
   AND url_key = :url_key

-- name: put_source
-- An image that was left out is tried again: the post is new or has changed.
INSERT INTO media_source (account_id, url_key, url, small_url, instance, state, reason, tries,
                          due_at)
VALUES (:account_id, :url_key, :url, :small_url, :instance, :state, :reason, 0, :now)
    ON CONFLICT (account_id, url_key) DO UPDATE
   SET instance = excluded.instance, small_url = excluded.small_url, state = excluded.state,
       reason = excluded.reason, tries = 0, due_at = excluded.due_at
 WHERE media_source.state = 'left_out'

-- name: lost_posts
-- Known posts that are neither in the library nor in the trash.
SELECT p.post_id
  FROM media_post AS p
 WHERE p.account_id = :account_id
   AND p.post_id > :after
   AND NOT EXISTS (SELECT 1 FROM bookmark AS b
                    WHERE b.account_id = :account_id AND b.post_id = p.post_id)
   AND NOT EXISTS (SELECT 1 FROM trash AS t
                    WHERE t.account_id = :account_id AND t.post_id = p.post_id)
 ORDER BY p.post_id
 LIMIT :limit

-- name: some_posts
SELECT p.post_id
  FROM media_post AS p
 WHERE p.account_id = :account_id
 ORDER BY p.post_id
 LIMIT :limit

-- name: is_lost
SELECT 1
  FROM media_account AS m
 WHERE m.account_id = :account_id
   AND NOT EXISTS (SELECT 1 FROM bookmark AS b
                    WHERE b.account_id = :account_id AND b.post_id = :post_id)
   AND NOT EXISTS (SELECT 1 FROM trash AS t
                    WHERE t.account_id = :account_id AND t.post_id = :post_id)

-- name: delete_post
DELETE FROM media_post
 WHERE account_id = :account_id
   AND post_id = :post_id

-- name: delete_links
DELETE FROM media_link
 WHERE account_id = :account_id
   AND post_id = :post_id
RETURNING url_key

-- name: delete_source
-- Unless another post has the image.
DELETE FROM media_source
 WHERE account_id = :account_id
   AND url_key = :url_key
   AND NOT EXISTS (SELECT 1 FROM media_link AS k
                    WHERE k.account_id = :account_id AND k.url_key = :url_key)
RETURNING media_id, small_id

-- name: delete_file
-- Unless another URL has the same content.
DELETE FROM media_file
 WHERE account_id = :account_id
   AND media_id = :media_id
   AND NOT EXISTS (SELECT 1 FROM media_source AS s
                    WHERE s.account_id = :account_id AND s.media_id = :media_id)
   AND NOT EXISTS (SELECT 1 FROM media_source AS s
                    WHERE s.account_id = :account_id AND s.small_id = :media_id)
RETURNING CASE WHEN type = 'video/mp4' THEN 0 ELSE bytes END

-- name: give_back
-- Videos have a quota of their own, so that their bytes are not counted here.
UPDATE media_account
   SET files = files - :files, bytes = bytes - :bytes, full_at = 0
 WHERE account_id = :account_id

-- name: due_sources
SELECT s.url_key, s.url, s.instance, s.tries, s.small_url
  FROM media_source AS s
 WHERE s.account_id = :account_id
   AND s.state = 'waiting'
   AND s.due_at <= :now
 ORDER BY s.due_at, s.url_key
 LIMIT :limit

-- name: by_content
SELECT f.media_id
  FROM media_file AS f
 WHERE f.account_id = :account_id
   AND f.content_hash = :content_hash

-- name: source_is_kept
UPDATE media_source
   SET state = 'kept', reason = '', media_id = :media_id, small_id = :small_id
 WHERE account_id = :account_id
   AND url_key = :url_key
   AND state = 'waiting'
RETURNING url_key

-- name: source_failed
UPDATE media_source
   SET state = :state, reason = :reason, tries = :tries, due_at = :due_at
 WHERE account_id = :account_id
   AND url_key = :url_key
   AND state = 'waiting'

-- name: take_room
UPDATE media_account
   SET files = files + :files, bytes = bytes + :bytes
 WHERE account_id = :account_id

-- name: video_bytes
SELECT CAST(coalesce(sum(f.bytes), 0) AS bigint)
  FROM media_file AS f
 WHERE f.account_id = :account_id
   AND f.type = 'video/mp4'

-- name: is_full
UPDATE media_account
   SET full_at = :quota
 WHERE account_id = :account_id

-- name: put_file
INSERT INTO media_file (account_id, media_id, content_hash, type, bytes, width, height, kept_at)
VALUES (:account_id, :media_id, :content_hash, :type, :bytes, :width, :height, :now)

-- name: file
SELECT f.media_id, f.type, f.bytes, f.width, f.height
  FROM media_file AS f
 WHERE f.account_id = :account_id
   AND f.media_id = :media_id

-- name: posts_of_file
-- Whichever image or small rendition the file is.
SELECT k.post_id
  FROM media_source AS s
  JOIN media_link AS k ON k.account_id = :account_id AND k.url_key = s.url_key
 WHERE s.account_id = :account_id
   AND s.media_id = :media_id
 UNION
SELECT k.post_id
  FROM media_source AS s
  JOIN media_link AS k ON k.account_id = :account_id AND k.url_key = s.url_key
 WHERE s.account_id = :account_id
   AND s.small_id = :media_id
 LIMIT :limit

-- name: unread_images
-- Pictures of authors and icons are smaller. Another post may have the same image, read already.
SELECT k.post_id, k.url_key, s.url, s.media_id,
       (SELECT max(o.image_text) FROM media_link AS o
         WHERE o.account_id = :account_id AND o.url_key = k.url_key)
  FROM media_link AS k
  JOIN media_source AS s ON s.account_id = :account_id AND s.url_key = k.url_key
  JOIN media_file AS f ON f.account_id = :account_id AND f.media_id = s.media_id
 WHERE k.account_id = :account_id
   AND k.image_text IS NULL
   AND f.type <> 'video/mp4'
   AND f.width >= 160
   AND f.height >= 60
 ORDER BY k.post_id, k.url_key
 LIMIT :limit

-- name: image_is_read
UPDATE media_link
   SET image_text = :text
 WHERE account_id = :account_id
   AND post_id = :post_id
   AND url_key = :url_key

-- name: known
SELECT s.url_key, s.state, s.reason, f.media_id, f.type, f.bytes, f.width, f.height,
       g.media_id, g.type, g.bytes, g.width, g.height
  FROM media_source AS s
  LEFT JOIN media_file AS f ON f.account_id = :account_id AND f.media_id = s.media_id
  LEFT JOIN media_file AS g ON g.account_id = :account_id AND g.media_id = s.small_id
 WHERE s.account_id = :account_id
   AND s.url_key = ANY(CAST(:keys AS text[]))

-- name: existing
SELECT f.media_id
  FROM media_file AS f
 WHERE f.account_id = :account_id
   AND f.media_id = ANY(CAST(:media_ids AS text[]))

-- name: links_of
SELECT k.post_id, k.url_key
  FROM media_link AS k
 WHERE k.account_id = :account_id
   AND k.post_id = ANY(CAST(:post_ids AS text[]))

-- name: try_again
UPDATE media_source
   SET state = 'waiting', reason = '', tries = 0, due_at = :now
 WHERE account_id = :account_id
   AND state = 'left_out'
   AND reason IN ('gone', 'refused', 'room', 'busy', 'time', 'unreachable')
   AND url_key IN (SELECT k.url_key FROM media_link AS k
                    WHERE k.account_id = :account_id
                      AND k.post_id = ANY(CAST(:post_ids AS text[])))
