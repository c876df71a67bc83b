"""Search by meaning: models, vectors, and how near they are."""
