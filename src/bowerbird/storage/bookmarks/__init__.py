"""Stores for bookmarks and every change to them."""
