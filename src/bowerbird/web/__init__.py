"""Pages for people: what is served outside /v1 and the tool server."""
