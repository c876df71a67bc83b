"""Readers of tables: one row per post or link."""
