"""Stores for accounts, keys and notices."""
