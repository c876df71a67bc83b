"""Digests: contents, wording, formats, schedule and email delivery."""
