"""Connects MCP clients that can only start a local process to a Bowerbird server."""

__version__ = "0.13.0"
