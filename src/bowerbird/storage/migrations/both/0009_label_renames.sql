-- compatible: yes
-- A label on many posts is renamed in several transactions. Until the last one, some of its posts
-- still have the former name.
ALTER TABLE label ADD COLUMN former_name text;
CREATE INDEX label_renamed ON label (account_id) WHERE former_name IS NOT NULL;
