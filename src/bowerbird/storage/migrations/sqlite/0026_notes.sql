-- compatible: yes
-- The posts that have a note: their JSON contains "note":" in hexadecimal digits.
CREATE INDEX content_noted ON content (place) WHERE instr(rendering, x'226e6f7465223a22') > 0;
