-- name: open
-- Raises the version first: on PostgreSQL this locks the library's row until the commit.
UPDATE library
   SET version = version + 1
 WHERE account_id = :account_id
RETURNING local_number, next_number, next_label_id

-- name: close
UPDATE library
   SET next_number = :next_number,
       next_label_id = :next_label_id,
       total = total + :total,
       unread = unread + :unread,
       archived = archived + :archived,
       fresh = fresh + :fresh
 WHERE account_id = :account_id

-- name: insert_bookmark
INSERT INTO bookmark (account_id, number, post_id, sort_index, is_read, is_archived, imported_at,
                      bookmarked_at, posted_at, media, author_key, author_name_key, title_key,
                      quote_count, reply_count, retweet_count, bookmark_count, favorite_count,
                      content_hash)
VALUES (:account_id, :number, :post_id, :sort_index, :is_read, :is_archived, :imported_at,
        :bookmarked_at, :posted_at, :media, :author_key, :author_name_key, :title_key,
        :quote_count, :reply_count, :retweet_count, :bookmark_count, :favorite_count,
        :content_hash)

-- name: update_bookmark
UPDATE bookmark
   SET sort_index = :sort_index,
       is_read = :is_read,
       is_archived = :is_archived,
       imported_at = :imported_at,
       bookmarked_at = :bookmarked_at,
       posted_at = :posted_at,
       media = :media,
       author_key = :author_key,
       author_name_key = :author_name_key,
       title_key = :title_key,
       quote_count = :quote_count,
       reply_count = :reply_count,
       retweet_count = :retweet_count,
       bookmark_count = :bookmark_count,
       favorite_count = :favorite_count,
       content_hash = :content_hash
 WHERE account_id = :account_id
   AND number = :number

-- name: labels
SELECT l.label_id, l.name, l.name_key
  FROM label AS l
 WHERE l.account_id = :account_id

-- name: insert_label
INSERT INTO label (account_id, label_id, name, name_key, metadata, bookmark_count, created_at)
VALUES (:account_id, :label_id, :name, :name_key, '{}', 0, :created_at)

-- name: attach
INSERT INTO bookmark_label (account_id, label_id, number)
VALUES (:account_id, :label_id, :number)

-- name: detach
DELETE FROM bookmark_label
 WHERE account_id = :account_id
   AND label_id = :label_id
   AND number = :number

-- name: count_label
UPDATE label
   SET bookmark_count = bookmark_count + :change
 WHERE account_id = :account_id
   AND label_id = :label_id
