"""Readers of JSON from social networks: their archives, and saved answers of their APIs."""
