"""Writes export files: one writer per format, each a pure function of a file of posts."""
