"""Stores of words and vectors."""
