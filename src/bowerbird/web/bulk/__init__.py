"""Changes of many posts: the selection of a list, its progress and its undo."""
