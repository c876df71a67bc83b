"""Pages that bring posts into a library: the demo, and the page that saves one post."""
