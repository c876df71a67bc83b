"""The demo library: invented posts for an empty library, removed by one click."""
