"""A library for the posts people save, reachable by their programs and their agents."""

__version__ = "0.1.0"
