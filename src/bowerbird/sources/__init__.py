"""Readers of posts from files: one reader per source."""
