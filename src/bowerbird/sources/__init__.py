"""Readers of the files and answers that people's posts come in, one a source."""
