-- compatible: yes
-- NULL: nobody has looked for text in this image of this post.
ALTER TABLE media_link ADD COLUMN image_text TEXT;
