"""Bowerbird's tool server for clients that can only start a local process."""

__version__ = "0.1.0"
