-- compatible: yes
-- The index of words has parts of addresses and of compounds too. A job writes the words of older
-- posts again. Those of form 2 stay counted, because the counted words are the same.
CREATE INDEX bookmark_reworded ON bookmark (account_id, number) WHERE word_form < 3;
