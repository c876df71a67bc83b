"""Finds posts by word and meaning, ranks them, and says why a search found nothing."""
