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
# Inside of a text, quotation marks are escaped.
_TIME: Final = b'"posted_at":'
_NO_TIME: Final = b'"posted_at":""'
UNTAGGED: Final = tuple(TAGS + b"null" + flags for flags in FLAGS)


def post_json(post: Post) -> bytes:
    return _encode(post)


def content_hash(post_json: bytes) -> bytes:
    return hashlib.blake2b(post_json, digest_size=16).digest()


def rendering(post_json: bytes, imported_at: int, sort_index: int, bookmarked_at: int) -> bytes:
    """The value of the column `content.rendering`: a JSON object without its end.

    A post without a time has the one at which it was saved (`model/derived_fields.py`).
    """
    saved_at = instants.with_offset(bookmarked_at).encode()
    if is_undated(post_json):
        post_json = post_json.replace(_NO_TIME, b'"posted_at":"%b"' % saved_at, 1)
    return b'%b,"imported_at":"%b","sort_index":%d,"bookmarked_at":"%b"' % (
        post_json[:-1],
        instants.without_offset(imported_at).encode(),
        sort_index,
        saved_at,
    )


def is_undated(post_json: bytes) -> bool:
    """Whether a post has no time. That of a quoted post comes after its own."""
    place = post_json.find(_TIME)
    return place >= 0 and post_json.startswith(_NO_TIME, place)


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
