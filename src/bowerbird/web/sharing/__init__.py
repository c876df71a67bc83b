"""Shared lists: what strangers see at their addresses, and the page that manages them."""
