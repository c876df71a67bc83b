"""Labels and the bookmarks that have them."""
