"""The ready JSON of a bookmark.

A list answer is these bytes joined: a page of 100 costs 0.2 ms so, 1.8 ms when built from
columns (docs/adr/0003). What often changes (tags and flags) closes the object at reading.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from bowerbird.model import instants
from bowerbird.model.bookmarks import Post

RENDER_VERSION: Final = 1
"""Raised when the form below changes; `bowerbird check --mend` then renders older rows anew."""

_encode: Final = msgspec.json.Encoder().encode
# The closings of a bookmark by its state: 1 says read, 2 archived. SQL joins with the same ones.
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
    """The only writer of what `content.rendering` holds: an object that lacks its closing."""
    return b'%b,"imported_at":"%b","sort_index":%d,"bookmarked_at":"%b"' % (
        post_json[:-1],
        instants.without_offset(imported_at).encode(),
        sort_index,
        instants.with_offset(bookmarked_at).encode(),
    )


def tags_json(names: list[str]) -> bytes | None:
    return _encode(names) if names else None


def closed(rendering: bytes, tags: bytes | None, state: int) -> bytes:
    """A whole Bookmark."""
    if tags is None:
        return rendering + UNTAGGED[state]
    return b"%b%b%b%b" % (rendering, TAGS, tags, FLAGS[state])


def joined(rows: Iterable[Sequence[Any]]) -> bytes:
    """Whole Bookmarks, parted by commas. A row begins with rendering, tags and state."""
    return b",".join([closed(row[0], row[1], row[2]) for row in rows])
