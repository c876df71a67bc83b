"""The description of each field of changes and counts of all bookmarks that match."""

from typing import Final

FIELDS: Final[dict[str, dict[str, str]]] = {
    "Facet": {
        "value": "A handle, a label, a month such as 2026-10, a site or a type of media.",
        "count": "Number of bookmarks with this value.",
        "name": "The display name of an author.",
    },
    "FacetMeta": {
        "by": "What was counted by.",
        "count": "Number of values in data.",
        "total_count": "Number of values in all.",
        "bookmarks": "Number of bookmarks that match.",
        "bookmarks_read": "Number of these that were read for their links, if not all were.",
    },
    "BulkChange": {
        "change_id": "Identifier of the change, for its progress and its undo; null in a dry run.",
        "action": "What is done.",
        "label_name": "The label that is added or removed, or null.",
        "state": "dry_run, working, done, undoing, undone or failed. The rest of a failed change "
        "is not made; it can be undone.",
        "count": "Number of bookmarks that matched when the change started.",
        "done": "Number of these that were handled so far.",
        "changed": "Number of bookmarks that were changed so far; others were so already.",
        "restored": "Number of bookmarks that the undo gave something back.",
        "error": "Why a change has failed, or null.",
        "created_at": "When the change started: ISO 8601 with an offset.",
        "finished_at": "When the change or its undo finished, or null.",
        "undo_until": "Until when the change can be undone; null until it has finished.",
        "examples": "In a dry run: up to five of the bookmarks.",
        "not_found": "Ids of the request that are not in the library, or not in the trash for "
        "restore; empty when the progress is shown.",
    },
    "Example": {
        "tweet_id": "Identifier of the saved post: digits, as text.",
        "text": "The beginning of the text.",
    },
}
