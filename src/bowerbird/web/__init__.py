"""The website: pages for people, the API reference, and discovery documents for software."""
