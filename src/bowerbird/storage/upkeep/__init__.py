"""Stores of what runs by itself: jobs, digests, kept answers, and cleaning up."""
