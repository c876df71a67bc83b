"""Signing in: sessions of browsers, one-time links, passkeys, providers and sign-up."""
