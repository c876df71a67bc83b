"""Measures the service against its performance targets. Not part of `make test`."""
