"""Programs that tests start or build, and the documents that they read."""
