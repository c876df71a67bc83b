-- compatible: yes
-- The posts that have a note: their JSON contains "note":" in hexadecimal digits.
CREATE INDEX content_noted ON content (account_id, number)
 WHERE position(CAST('\x226e6f7465223a22' AS bytea) IN rendering) > 0;
