"""What people do with posts in many tests, and files of posts."""
