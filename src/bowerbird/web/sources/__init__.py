"""The page of connected sources and devices."""
