"""Rules: what should happen by itself to posts that match a query."""
