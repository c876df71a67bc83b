"""Renders a bookmark as JSON once, when it is stored.

A list joins these bytes: a page of 100 takes 0.2 ms, but 1.8 ms when built from columns
(docs/adr/0003). Tags and flags change often, so they are added at the end when reading.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from bowerbird.model import instants
from bowerbird.model.bookmarks import Post

RENDER_VERSION: Final = 1
"""Increase it when the format below changes; `bowerbird check` then finds and fixes older rows."""

_encode: Final = msgspec.json.Encoder().encode
# The end of the JSON by state: 1 if read, plus 2 if archived. SQL appends the same texts.
FLAGS: Final = (
    b',"is_read":false,"is_archived":false}',
    b',"is_read":true,"is_archived":false}',
    b',"is_read":false,"is_archived":true}',
    b',"is_read":true,"is_archived":true}',
)
TAGS: Final = b',"tags":'
UNTAGGED: Final = tuple(TAGS + b"null" + flags for flags in FLAGS)


def post_json(post: Post) -> bytes:
    return _encode(post)


def content_hash(post_json: bytes) -> bytes:
    return hashlib.blake2b(post_json, digest_size=16).digest()


def rendering(post_json: bytes, imported_at: int, sort_index: int, bookmarked_at: int) -> bytes:
    """The value of the column `content.rendering`: a JSON object without its end."""
    return b'%b,"imported_at":"%b","sort_index":%d,"bookmarked_at":"%b"' % (
        post_json[:-1],
        instants.without_offset(imported_at).encode(),
        sort_index,
        instants.with_offset(bookmarked_at).encode(),
    )


def tags_json(names: list[str]) -> bytes | None:
    return _encode(names) if names else None


def bookmark_json(rendering: bytes, tags: bytes | None, state: int) -> bytes:
    """The complete JSON of a Bookmark."""
    if tags is None:
        return rendering + UNTAGGED[state]
    return b"%b%b%b%b" % (rendering, TAGS, tags, FLAGS[state])


def join_bookmarks(rows: Iterable[Sequence[Any]]) -> bytes:
    """The JSON of Bookmarks, joined by commas. A row begins with rendering, tags and state."""
    return b",".join([bookmark_json(row[0], row[1], row[2]) for row in rows])


def scored_json(row: Sequence[Any], score: float) -> bytes:
    """The JSON of a Bookmark with its score in a ranked list."""
    return b'%b,"score":%b}' % (bookmark_json(row[0], row[1], row[2])[:-1], _encode(score))
