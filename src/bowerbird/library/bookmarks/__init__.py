"""Reading bookmarks and changing them: lists, flags, trash, upserts."""
