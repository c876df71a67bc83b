"""/v1: one module per resource. Its `routes` returns the routes."""
