"""The library: lists of posts, the reading view, and the changes that their forms make."""
