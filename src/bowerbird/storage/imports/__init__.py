"""Runs of imports, and what they changed."""
