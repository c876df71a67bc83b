"""Posts: bookmarks and their parts, and what a list can ask for."""
