"""Ten minutes of load on four servers and two workers that are killed at random."""
