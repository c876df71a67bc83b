"""Reads the saved posts of an account at X, Mastodon or Bluesky, through the API of the network."""
