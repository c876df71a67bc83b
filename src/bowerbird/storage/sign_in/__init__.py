"""Rows of sessions, one-time links, passkeys and identities at providers."""
