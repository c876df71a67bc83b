"""Takes text, tables, JSON and HTML apart, without knowing which program wrote them."""
