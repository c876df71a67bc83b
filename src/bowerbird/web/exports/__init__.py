"""The page for exports."""
