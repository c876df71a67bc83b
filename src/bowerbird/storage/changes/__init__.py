"""Stores of changes: of many posts, of rules and webhooks, and what happened."""
