"""What the OpenAPI document tells of parameters, a list's in the contract's order."""

from typing import Any, Final

from bowerbird.library.bookmarks.parameters import LIMIT_DEFAULT, LIMIT_MAX
from bowerbird.library.digests.digests import FORMATS
from bowerbird.model.filters import RELEVANCE, SORT_FIELDS
from bowerbird.model.media import BITS, SYNONYMS

Schema = dict[str, Any]

_TEXT: Final[Schema] = {"type": "string"}
_INSTANT: Final[Schema] = {"type": "string", "format": "date-time"}

_SORTED: Final = (
    "sort_index when left out, relevance with vector_search_term. Dates and counts descend, text "
    "ascends. relevance needs q or vector_search_term."
)


def _flag(default: bool) -> Schema:  # noqa: FBT001 - it is the default's value
    return {"type": "boolean", "default": default}


# By name, for parameters in the path too.
EXAMPLES: Final[dict[str, Any]] = {
    "post_id": "1945678901234567890",
    "label_id": "1",
    "slug": "weekend-reading",
    "job_id": "x7Qk2mZt9LwP4sVb",
    "token": "eyJ0b2tlbiI6MX0",
    "highlight": True,
    "limit": 50,
    "cursor": "AoJ1c29ydF9pbmRleA",
    "is_unread_only": False,
    "hide_archived": True,
    "media_type": "image",
    "author": "bowerwatch",
    "tag": "Birds",
    "posted_from": "2026-01-01T00:00:00+00:00",
    "posted_to": "2026-07-01T00:00:00+02:00",
    "bookmarked_from": "2026-07-01T00:00:00Z",
    "bookmarked_to": "2026-07-31T23:59:59Z",
    "q": '"blue things" bower* -paint',
    "vector_search_term": "birds that decorate",
    "sort_by": "posted_at",
    "sort_order": "asc",
    "bucket": "long-reads",
    "sort_cursor": "2026-07-01T08:00:00+00:00",
    "digest_id": "weekly-2026-07-13",
    "format": "markdown",
}
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
        {"type": "string", "enum": [*SORT_FIELDS, RELEVANCE]},
        _SORTED,
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
