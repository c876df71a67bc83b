"""Stores for digests."""
