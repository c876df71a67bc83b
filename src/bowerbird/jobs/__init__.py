"""Work that outlives a request: the worker that does it, and the kinds of jobs it knows."""
