"""What is sent to a server: requests in turn, by many connections, writes and attacks."""
