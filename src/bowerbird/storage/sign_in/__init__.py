"""Rows of sessions, one-time links, passkeys, identities at providers, and the activity log."""
