"""What devices send: runs, pages, events and files."""
