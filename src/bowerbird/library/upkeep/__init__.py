"""Consistency checks and the removal of expired records."""
