"""Accounts and keys, what an account can read about itself, and notices about ending versions."""
