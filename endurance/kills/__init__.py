"""Kills the service with SIGKILL thousands of times: `make crash`. README.md says how."""
