"""What tools are called with: one vocabulary, checks, selections of posts and keys of writes."""
