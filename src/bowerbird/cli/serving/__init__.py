"""What `bowerbird serve` does besides serving: its first output, and more processes."""
