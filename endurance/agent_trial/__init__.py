"""Plays wishes against a language model of the operator's choice."""
