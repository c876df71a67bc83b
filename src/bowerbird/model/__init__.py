"""Immutable records: what the service speaks of, with no rule about who may do what."""
