"""Rules: what they are for, what they do, and what they leave alone."""
