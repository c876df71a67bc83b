"""One bookmark as it is stored, beside what it must be.

What is true: of a post its rendering, of its place and state the bookmark's columns, of its
tags the attached labels. Everything else can be made again, by the intake's own functions.
"""

from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.library.bookmarks.bookmark_row import row_of, words_of
from bowerbird.model.labels import name_key
from bowerbird.model.rendering import tags_json
from bowerbird.model.upsert import Incoming, Placement
from bowerbird.sources import own_json
from bowerbird.sources.own_json import InvalidRecord
from bowerbird.storage.checks import StoredBookmark

# Stands for the hash of content that was lost: no post has it, so the next import writes it anew.
_LOST: Final = bytes(16)
_LONGEST: Final = 64


class Finding(Struct, frozen=True):
    """Something stored that is not as it must be."""

    what: str
    stored: str
    right: str
    is_mendable: bool = True


class Reading:
    """A stored bookmark, and the post that is in it."""

    def __init__(self, stored: StoredBookmark) -> None:
        self.stored = stored
        incoming = _post_of(stored)
        self._is_lost = incoming is None
        if incoming is None or incoming.post_id != stored.columns["post_id"]:
            incoming = _named(stored, keeping_content=incoming is not None)
        self._incoming = incoming

    @property
    def name(self) -> str:
        return f"post {self.stored.columns['post_id']}"

    @property
    def is_mendable(self) -> bool:
        return self._incoming is not None

    def words(self) -> str:
        assert self._incoming
        return words_of(self._incoming.record)

    def row(self, words: str) -> dict[str, Any]:
        """All that is stored of the bookmark, as it must be."""
        assert self._incoming
        columns = self.stored.columns
        standing = Placement(
            sort_index=columns["sort_index"],
            imported_at=columns["imported_at"],
            bookmarked_at=columns["bookmarked_at"],
            is_read=bool(columns["is_read"]),
            is_archived=bool(columns["is_archived"]),
        )
        tags = tags_json(sorted(self.stored.label_names, key=name_key))
        row = row_of(self._incoming, standing, columns["number"], words, tags)
        if self._is_lost or columns["content_hash"] == _LOST:
            row["content_hash"] = _LOST
        return row

    def differences(self) -> list[Finding]:
        if not self.is_mendable:
            return [Finding(f"id of {self.name}", "no number", "unknown", is_mendable=False)]
        if self._is_lost:
            stored = "none" if self.stored.columns["rendering"] is None else "no JSON of a post"
            return [Finding(f"content of {self.name}", stored, "lost: import the post again")]
        right = self.row(words="")
        found = [
            Finding(f"{column} of {self.name}", *_excerpts(value, right[column]))
            for column, value in self.stored.columns.items()
            if value != right[column]
        ]
        if not self.stored.has_words:
            found.append(Finding(f"words of {self.name}", "none", cut(self.words())))
        return found


def cut(text: str) -> str:
    return ascii(text if len(text) <= _LONGEST else text[:_LONGEST] + "...")


def _post_of(stored: StoredBookmark) -> Incoming | None:
    rendering = stored.columns["rendering"]
    if rendering is None:
        return None
    try:
        return own_json.read(_closed(rendering)).incoming
    except InvalidRecord:
        return None


def _named(stored: StoredBookmark, *, keeping_content: bool) -> Incoming | None:
    """The post under the id of its column, which lists and look-ups go by; None for no id."""
    post: dict[str, Any] = {"tweet_details": {}}
    if keeping_content:
        post = msgspec.json.decode(_closed(stored.columns["rendering"]))
    post["post_id"] = stored.columns["post_id"]
    try:
        return own_json.read(msgspec.json.encode(post)).incoming
    except InvalidRecord:
        return None


def _closed(rendering: bytes) -> bytes:
    """The object of a rendering without what is joined in at reading."""
    return rendering + b"}"


def _excerpts(stored: object, right: object) -> tuple[str, str]:
    """Two values as a sentence can show them; of long bytes, where they begin to differ."""
    if not isinstance(stored, bytes) or not isinstance(right, bytes):
        return _shown(stored), _shown(right)
    pairs = enumerate(zip(stored, right, strict=False))
    start = max(0, next((place for place, (a, b) in pairs if a != b), 0) - _LONGEST // 4)
    end = start + _LONGEST
    return _shown(stored[start:end]), _shown(right[start:end])


def _shown(value: object) -> str:
    if isinstance(value, bytes):
        return cut(value.decode("utf-8", "backslashreplace"))
    return "none" if value is None else cut(str(value))
