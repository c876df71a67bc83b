"""Checks before an operation: plan gates, monthly calls, and the lock on the library."""
