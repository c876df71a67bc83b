"""Where the networks publish single posts for everybody, and what they answer."""
