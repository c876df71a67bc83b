"""Measures the service against the bars it must hold. Never part of `make test`."""
