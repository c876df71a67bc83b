"""Pages of the signed-in person: keys, account and activity."""
