"""A self-hosted library for saved posts, with an HTTP API and tools for agents."""

__version__ = "0.1.0"
