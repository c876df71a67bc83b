"""Notes and highlights on the page of a post."""
