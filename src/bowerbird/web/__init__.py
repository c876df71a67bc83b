"""Everything outside /v1 and the tool server: pages, reference, discovery documents."""
