"""/v1: one module per resource. `routes` and `write_routes` return its routes."""
