"""Upgrades a PostgreSQL library from an earlier commit while its nodes serve requests."""
