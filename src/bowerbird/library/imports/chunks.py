"""Collects what a reader finds into chunks, each small enough for one short transaction."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

import msgspec

from bowerbird.requests import limits
from bowerbird.sources.found import Found, FoundPost, LeftOut, Notice

# One transaction writes a chunk. Other writers wait for it, on SQLite those of all accounts.
CHUNK_POSTS: Final = 200
# With long articles or many labels, a chunk has fewer posts.
CHUNK_BYTES: Final = 512 << 10
# A label takes up to four rows: itself, its count, that the post has it, and the log of the run.
_CHUNK_LABELS: Final = 700
# A file may have a million rows that are left out, and no posts.
_CHUNK_REMARKS: Final = 1_000
_encode: Final = msgspec.json.Encoder().encode


@dataclass(slots=True)
class Chunk:
    posts: dict[str, FoundPost] = field(default_factory=dict)
    remarks: list[LeftOut | Notice] = field(default_factory=list)
    _bytes: int = 0
    _labels: int = 0

    @property
    def is_full(self) -> bool:
        return (
            len(self.posts) >= CHUNK_POSTS
            or self._bytes >= CHUNK_BYTES
            or self._labels >= _CHUNK_LABELS
            or len(self.remarks) >= _CHUNK_REMARKS
        )

    def add(self, post: FoundPost) -> None:
        record = post.record
        self.posts[record.post_id] = post
        # Not of the text alone: an attachment can be as large as the whole record.
        self._bytes += len(_encode(record) if post.own is None else post.own.post_json)
        labels = len(record.tags or ()) + len(post.added_labels)
        self._labels += min(labels, limits.POST_LABELS_MAX)


def chunks(found: Iterable[Found]) -> Iterator[Chunk]:
    chunk = Chunk()
    for item in found:
        # The later of two records of a post wins, so the earlier one is written first.
        is_again = isinstance(item, FoundPost) and item.record.post_id in chunk.posts
        if chunk.is_full or is_again:
            yield chunk
            chunk = Chunk()
        if isinstance(item, FoundPost):
            chunk.add(item)
        else:
            chunk.remarks.append(item)
    if chunk.posts or chunk.remarks:
        yield chunk


def parts(found: Iterable[FoundPost]) -> Iterator[list[FoundPost]]:
    """The posts of each chunk."""
    for chunk in chunks(found):
        yield list(chunk.posts.values())
