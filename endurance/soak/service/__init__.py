"""The service under trial: its database, its processes, and what happens to them."""
