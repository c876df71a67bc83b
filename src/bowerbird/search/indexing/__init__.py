"""Computes index texts in a second process, if there is a second core."""
