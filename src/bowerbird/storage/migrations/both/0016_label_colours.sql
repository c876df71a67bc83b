-- compatible: yes
-- The colour that somebody chose for a label, by its name. Without one, pages derive a colour from
-- the name of the label.
ALTER TABLE label ADD COLUMN color text;
-- A page reads the chosen colours; most labels have none.
CREATE INDEX label_coloured ON label (account_id, name, color) WHERE color IS NOT NULL;
