"""The OpenAPI document of /v1 and the check that compares two of them."""
