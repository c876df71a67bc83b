-- compatible: yes
-- The posts that have highlights: their JSON contains "highlights":[{ in hexadecimal digits.
CREATE INDEX content_highlighted ON content (place) WHERE instr(rendering, x'22686967686c6967687473223a5b7b') > 0;
