-- name: insert_bookmark
INSERT INTO bookmark (account_id, number, post_id, sort_index, is_read, is_archived, imported_at,
                      bookmarked_at, posted_at, media, author_key, author_name_key, title_key,
                      quote_count, reply_count, retweet_count, bookmark_count, favorite_count,
                      content_hash, completeness, order_source, thread, language, text_print, link_print,
                      picture_print, word_form, updated_at)
VALUES (:account_id, :number, :post_id, :sort_index, :is_read, :is_archived, :imported_at,
        :bookmarked_at, :posted_at, :media, :author_key, :author_name_key, :title_key,
        :quote_count, :reply_count, :retweet_count, :bookmark_count, :favorite_count,
        :content_hash, :completeness, :order_source, :thread, :language, :text_print, :link_print,
        :picture_print, :word_form,
        :updated_at)

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
       content_hash = :content_hash,
       completeness = :completeness,
       order_source = :order_source,
       thread = :thread,
       language = :language,
       text_print = :text_print,
       link_print = :link_print,
       picture_print = :picture_print
 WHERE account_id = :account_id
   AND number = :number

-- name: set_traits
UPDATE bookmark
   SET media = :media,
       language = :language,
       text_print = :text_print,
       link_print = :link_print,
       picture_print = :picture_print
 WHERE account_id = :account_id
   AND number = :number

-- name: set_content_hash
-- The job that writes words of an older form again dates the posts that have no time.
UPDATE bookmark
   SET content_hash = :content_hash,
       word_form = CASE WHEN posted_at = :unknown AND word_form > 2 THEN 2 ELSE word_form END
 WHERE account_id = :account_id
   AND number = :number

-- name: threads
-- The conversations among these that somebody continues in the library, and the author's key.
SELECT DISTINCT b.thread, b.author_key
  FROM bookmark AS b INDEXED BY bookmark_by_thread
 WHERE b.account_id = :account_id
   AND b.thread = ANY(CAST(:post_ids AS text[]))

-- name: set_word_form
UPDATE bookmark
   SET word_form = :word_form
 WHERE account_id = :account_id
   AND number = ANY(CAST(:numbers AS bigint[]))
   AND word_form <> :word_form
