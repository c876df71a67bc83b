"""What pages call each filter: in a form, in a chip above a list, and in the form of exports."""

from typing import Final, NamedTuple


class FilterWords(NamedTuple):
    # In the form of a Smart View.
    name: str
    # Above a list; "" if it has no chip of this name.
    chip: str = ""
    # In the form of exports, where that differs from the name.
    exported: str = ""


# Chips are in this order.
WORDS: Final = {
    "media_type": FilterWords("Type", "type"),
    "author": FilterWords("Author", "author"),
    "tag": FilterWords("Label", "label"),
    "label": FilterWords("Labels", "labels", "Several labels, with commas"),
    "language": FilterWords("Language", "language", "Language, such as en"),
    "network": FilterWords("Network", "network"),
    "unlabelled": FilterWords("Without labels", "without a label", "Without a label"),
    "has_note": FilterWords("With a note", "with a note"),
    "has": FilterWords("With", "with", "With, such as highlight"),
    "is_gone": FilterWords("Gone", "gone from its network", "Gone from its network"),
    "is_reply": FilterWords("Replies", "a reply", "Replies only"),
    "is_thread": FilterWords("Threads", "of a thread", "Threads only"),
    "is_duplicate": FilterWords("Duplicates", "with a copy", "Duplicates only"),
    "min_words": FilterWords("Words, at least", "words, at least"),
    "max_words": FilterWords("Words, at most", "words, at most"),
    "min_likes": FilterWords("Likes, at least", "likes, at least"),
    "linked_site": FilterWords("With a link to", "with a link to"),
    "posted_from": FilterWords("Posted from", "posted after"),
    "posted_to": FilterWords("Posted until", "posted before"),
    "bookmarked_from": FilterWords("Saved from", "saved after"),
    "bookmarked_to": FilterWords("Saved until", "saved before"),
    "updated_since": FilterWords("Changed since", "changed since"),
    "q": FilterWords("Words"),
    "vector_search_term": FilterWords("Near in meaning to"),
    "label_match": FilterWords("Labels: all or any", exported="Labels needed"),
    "is_unread_only": FilterWords("Read and unread", exported="Unread posts only"),
    "hide_archived": FilterWords("Archived posts", exported="Without archived posts"),
    "is_archived_only": FilterWords("Archived only", exported="Archived posts only"),
}
CHIPS: Final = {name: words.chip for name, words in WORDS.items() if words.chip}
