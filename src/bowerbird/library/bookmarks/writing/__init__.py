"""Writes posts: rows, words and counts of an import, a change, the trash and the index."""
