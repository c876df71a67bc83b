"""Search by words and by meaning: tokens, the query language, highlights, and vectors."""
