-- compatible: yes
-- The posts that have highlights: their JSON contains "highlights":[{ in hexadecimal digits.
CREATE INDEX content_highlighted ON content (account_id, number)
 WHERE position(CAST('\x22686967686c6967687473223a5b7b' AS bytea) IN rendering) > 0;
