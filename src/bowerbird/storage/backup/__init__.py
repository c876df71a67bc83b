"""Backup and restore of a SQLite library."""
