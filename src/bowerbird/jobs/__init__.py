"""Background jobs: the worker, and the kinds of jobs it runs."""
