"""Measures how good search is, instead of how fast."""
