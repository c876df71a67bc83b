"""What people type: the query language, misspelled words, and what is marked in a hit."""
