"""Pages that bring posts into the library."""
