"""The trash: restoring posts, and deleting them for good."""
