"""The clients: what they send, and what they know about the answers."""
