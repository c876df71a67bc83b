"""Readers of X's own formats: pages of its web client, pages of its API, and captured posts."""
