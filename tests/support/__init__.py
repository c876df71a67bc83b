"""Code that several groups of tests share."""
