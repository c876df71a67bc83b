"""Webhooks: addresses that are told what happens in a library, by the Standard Webhooks rules."""
