"""Statistics of a library."""
