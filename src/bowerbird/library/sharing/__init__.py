"""Lists that an account shares, and their feeds."""
