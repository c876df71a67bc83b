"""Parts of the tools' output schemas, in JSON Schema that every client can read.

Tests check results with all of a schema. Clients get its outline, without descriptions.
"""

from typing import Final

from bowerbird.toolserver.tools.tool import Json


def choice(description: str, *values: str) -> Json:
    return {"type": "string", "enum": list(values), "description": description}


def record(
    description: str, properties: dict[str, Json], *, optional: tuple[str, ...] = ()
) -> Json:
    """An object. Fields that are not optional are always present."""
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        "required": [name for name in properties if name not in optional],
    }


def array(items: Json, description: str) -> Json:
    return {"type": "array", "items": items, "description": description}


def text(description: str) -> Json:
    return {"type": "string", "description": description}


def count(description: str) -> Json:
    return {"type": "integer", "minimum": 0, "description": description}


_TEXT: Final[Json] = {"type": "string"}
_TEXTS: Final[Json] = {"type": "array", "items": _TEXT}
_FLAG: Final[Json] = {"type": "boolean"}
_NUMBER: Final[Json] = {"type": "integer"}
# A field that is false or empty is left out in the short form.
POST: Final = record(
    "A saved post in the short form, or with all fields.",
    {
        **dict.fromkeys(("post_id", "author", "title", "text"), _TEXT),
        **dict.fromkeys(("text_length", "article_length", "next_offset"), _NUMBER),
        **dict.fromkeys(("snippet", "link", "posted_at", "bookmarked_at"), _TEXT),
        **dict.fromkeys(("gone_at", "removed_at", "note"), _TEXT),
        **dict.fromkeys(("labels", "media"), _TEXTS),
        **dict.fromkeys(("is_read", "is_archived", "truncated"), _FLAG),
        "score": {"type": "number"},
        "tweet_details": {"type": "object"},
    },
    optional=(
        *("author", "title", "text", "text_length", "article_length"),
        *("next_offset", "snippet", "link", "posted_at", "bookmarked_at", "gone_at", "removed_at"),
        *("note", "labels", "media", "is_read", "is_archived", "truncated", "score"),
        "tweet_details",
    ),
)
# `advice` says what was left out.
TRUNCATED: Final[Json] = _FLAG
ADVICE: Final = text("What to know or do next.")
# Without descriptions, because several tools return the same record.
SHORT_TRUNCATED: Final[dict[str, Json]] = {"truncated": {"type": "boolean"}, "advice": _TEXT}
NEXT_CURSOR: Final[Json] = {
    "anyOf": [{"type": "string"}, {"type": "null"}],
    "description": "cursor of the next page; null on the last one.",
}
PAGE: Final = record(
    "A page of saved posts.",
    {
        "content_is": _TEXT,
        "bookmarks": array(POST, "The posts, in the requested order."),
        "post_ids": _TEXTS,
        "count": count("Posts on this page."),
        "total_count": count("Posts that match."),
        "next_cursor": NEXT_CURSOR,
        "filters": {
            "type": "object",
            "description": "Filters and order applied.",
        },
        "vector_pending": count("Posts without a vector yet."),
        "relaxed": _FLAG,
        "did_you_mean": _TEXT,
        "truncated": TRUNCATED,
        "advice": ADVICE,
    },
    optional=(
        *("content_is", "bookmarks", "post_ids"),
        *("vector_pending", "relaxed", "did_you_mean", "advice"),
    ),
)
