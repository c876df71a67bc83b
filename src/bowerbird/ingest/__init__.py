"""Serves /ingest/v1, where devices send what their users save."""
