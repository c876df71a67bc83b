"""Search by meaning: building vectors and searching them."""
