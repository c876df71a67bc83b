"""SQLite's fast path for keyword searches."""
