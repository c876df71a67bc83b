"""Smart Views: saved queries."""
