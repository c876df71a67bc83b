"""/v1: one file a resource. `endpoints(...)` returns the resource's table of routes."""
