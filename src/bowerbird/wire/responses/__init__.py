"""Responses: envelope, cache, compression, streaming, and the headers they share."""
