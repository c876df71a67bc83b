"""Export files: one writer a format, each a pure function of a file of posts."""
