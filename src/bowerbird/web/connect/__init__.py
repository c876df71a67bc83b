"""Connecting an extension to an account."""
