-- compatible: yes
-- The network of a post is in bits 8 to 15 of its media; that of X is 0, and ids of other networks
-- have more digits than those of X. Only three others have posts so far.
UPDATE bookmark AS b
   SET media = b.media |
       CASE WHEN position(CAST('"source":"mastodon"' AS bytea) IN c.rendering) > 0 THEN 256
            WHEN position(CAST('"source":"bluesky"' AS bytea) IN c.rendering) > 0 THEN 512
            WHEN position(CAST('"source":"reddit"' AS bytea) IN c.rendering) > 0 THEN 768
            WHEN position(CAST('","source_id":"' AS bytea) IN c.rendering) > 0 THEN 65280
            ELSE 0 END
  FROM content AS c
 WHERE c.account_id = b.account_id
   AND c.number = b.number
   AND length(b.post_id) > 19;
