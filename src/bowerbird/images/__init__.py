"""Images of other sites: which hosts they may come from, how they are fetched and checked."""
