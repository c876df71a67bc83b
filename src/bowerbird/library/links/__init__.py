"""Posts that are only links: a job reads their text where their network publishes it."""
