"""Imports: files of bookmarks read into a library in chunks."""
