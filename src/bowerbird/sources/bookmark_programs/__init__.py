"""Readers of the files of bookmark programs and browsers."""
