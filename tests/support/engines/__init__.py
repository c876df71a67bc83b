"""Databases: PostgreSQL and its programs, schema steps, and what statements do."""
