-- compatible: yes
-- The network of a post is in bits 8 to 15 of its media; that of X is 0, and ids of other networks
-- have more digits than those of X. Only three others have posts so far.
UPDATE bookmark
   SET media = media | coalesce(
       (SELECT CASE WHEN instr(c.rendering, CAST('"source":"mastodon"' AS BLOB)) > 0 THEN 256
                    WHEN instr(c.rendering, CAST('"source":"bluesky"' AS BLOB)) > 0 THEN 512
                    WHEN instr(c.rendering, CAST('"source":"reddit"' AS BLOB)) > 0 THEN 768
                    WHEN instr(c.rendering, CAST('","source_id":"' AS BLOB)) > 0 THEN 65280
                    ELSE 0 END
          FROM library AS l
          JOIN content AS c ON c.place = (l.local_number << 40) + bookmark.number
         WHERE l.account_id = bookmark.account_id), 0)
 WHERE length(post_id) > 19;
