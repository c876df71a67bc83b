"""Stores for runs and pages that devices send, and for what the source said about posts."""
