"""Files the service creates, and scratch folders."""
