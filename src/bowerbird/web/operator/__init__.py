"""Pages for the owner, who operates the service."""
