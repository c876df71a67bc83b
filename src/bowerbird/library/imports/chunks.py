"""Collects what a reader finds into chunks, each small enough for one short transaction."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

import msgspec

from bowerbird.requests import limits
from bowerbird.sources.found import Found, FoundPost, LeftOut, Notice, OrderSource

# A chunk is written in less than 20 ms, so that the writes of a running server do not wait.
CHUNK_POSTS: Final = 200
# With long articles or many labels, a chunk has fewer posts.
_CHUNK_BYTES: Final = 1 << 20
# A label takes up to four rows: itself, its count, that the post has it, and the log of the run.
_CHUNK_LABELS: Final = 700
# A file may have a million rows that are left out, and no posts.
_CHUNK_REMARKS: Final = 1_000
_encode: Final = msgspec.json.Encoder().encode


@dataclass(slots=True)
class Chunk:
    posts: dict[str, FoundPost] = field(default_factory=dict)
    remarks: list[LeftOut | Notice] = field(default_factory=list)
    # The place of a post depends on how many came before it.
    is_by_position: bool = False
    _bytes: int = 0
    _labels: int = 0

    @property
    def is_full(self) -> bool:
        return (
            len(self.posts) >= CHUNK_POSTS
            or self._bytes >= _CHUNK_BYTES
            or self._labels >= _CHUNK_LABELS
            or len(self.remarks) >= _CHUNK_REMARKS
        )

    def must_follow(self, other: "Chunk") -> bool:
        """Whether the other chunk has to be written before this one is compared."""
        return self.is_by_position or not self.posts.keys().isdisjoint(other.posts)

    def add(self, post: FoundPost) -> None:
        record = post.record
        self.posts[record.post_id] = post
        self.is_by_position |= post.order_source is OrderSource.FILE_POSITION
        # Not of the text alone: an attachment can be as large as the whole record.
        self._bytes += len(_encode(record) if post.own is None else post.own.post_json)
        labels = len(record.tags or ()) + len(post.added_labels)
        self._labels += min(labels, limits.POST_LABELS_MAX)


def chunks(found: Iterable[Found]) -> Iterator[Chunk]:
    chunk = Chunk()
    for item in found:
        if isinstance(item, FoundPost):
            # The later of two records of a post wins, so the earlier one is written first.
            if chunk.is_full or item.record.post_id in chunk.posts:
                yield chunk
                chunk = Chunk()
            chunk.add(item)
        else:
            if chunk.is_full:
                yield chunk
                chunk = Chunk()
            chunk.remarks.append(item)
    if chunk.posts or chunk.remarks:
        yield chunk
