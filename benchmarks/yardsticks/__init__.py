"""What the service is compared with: a constant body, the usual stack, a bare tool server."""
