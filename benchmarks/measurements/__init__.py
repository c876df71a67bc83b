"""What is measured, a module for each name of `--only`."""
