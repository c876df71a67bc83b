-- compatible: yes
-- Addresses have other parts in the index of words, and posts teach abbreviations. A job writes the
-- words of older posts again. Release 0.8.0 names the index bookmark_reworded, so that one stays.
CREATE INDEX bookmark_of_older_form ON bookmark (account_id, number) WHERE word_form < 4;
