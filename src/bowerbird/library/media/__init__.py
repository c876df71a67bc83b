"""Images of posts that are kept here: the switch of an account, the downloads, and the files."""
