"""What the OpenAPI document tells of a list's parameters, in the contract's order."""

from typing import Any, Final

from bowerbird.library.digests import FORMATS
from bowerbird.library.parameters import LIMIT_DEFAULT, LIMIT_MAX
from bowerbird.model.filters import RELEVANCE, SORT_FIELDS
from bowerbird.model.media import BITS, SYNONYMS

Schema = dict[str, Any]

_TEXT: Final[Schema] = {"type": "string"}
_INSTANT: Final[Schema] = {"type": "string", "format": "date-time"}


def _flag(default: bool) -> Schema:  # noqa: FBT001 - it is the default's value
    return {"type": "boolean", "default": default}


PARAMETERS: Final[dict[str, tuple[Schema, str]]] = {
    "limit": (
        {"type": "integer", "minimum": 1, "default": LIMIT_DEFAULT},
        f"Page size. More than {LIMIT_MAX} is applied as {LIMIT_MAX}; meta.limit tells.",
    ),
    "cursor": (_TEXT, "next_cursor of the previous page, unchanged, with the same query."),
    "is_unread_only": (_flag(default=True), "Only unread bookmarks."),
    "hide_archived": (_flag(default=True), "Hide archived bookmarks."),
    "media_type": (
        {"type": "string", "enum": [*BITS, *SYNONYMS]},
        "Only posts that carry this kind of thing.",
    ),
    "author": (_TEXT, "The author's handle, with or without @, or exact name; case is ignored."),
    "tag": (_TEXT, "Only bookmarks with this label; case is ignored."),
    "posted_from": (_INSTANT, "Posted after this instant."),
    "posted_to": (_INSTANT, "Posted before this instant."),
    "bookmarked_from": (_INSTANT, "Bookmarked after this instant."),
    "bookmarked_to": (_INSTANT, "Bookmarked before this instant."),
    "q": (
        _TEXT,
        'Words that must all occur; "a phrase", -word to exclude, wo* for a prefix.',
    ),
    "vector_search_term": (
        _TEXT,
        "Nearest by meaning, best first; with q, the union of both. Needs a paid plan.",
    ),
    "sort_by": (
        {"type": "string", "enum": [*SORT_FIELDS, RELEVANCE], "default": "sort_index"},
        "Dates and counts descend, text ascends. relevance needs q or vector_search_term.",
    ),
    "sort_order": ({"type": "string", "enum": ["asc", "desc"]}, "Turns the order of sort_by."),
    "token": (_TEXT, "Of the download link, unchanged."),
    "bucket": (_TEXT, "Slug of one of the view's triage buckets, which narrows it."),
    "format": (
        {"type": "string", "enum": list(FORMATS)},
        "Leave out all forms but this one; json leaves out Markdown and HTML.",
    ),
    "sort_cursor": (
        _TEXT,
        "Continue behind this value of the sort field. cursor is better: it also knows ties.",
    ),
    "highlight": (
        _flag(default=False),
        "With q: adds to each bookmark where its words stand, as highlight.",
    ),
}
