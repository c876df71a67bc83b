"""Requests to other sites: only to public addresses, over connections that are reused per host."""
