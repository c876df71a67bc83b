"""Runs of imports, what they changed, and posts that their owner deleted."""

import zlib
from enum import IntEnum, StrEnum
from typing import Final

import msgspec
from msgspec import Struct

# Fast, and halves a post. Most of the log is written during an import and never read.
_COMPRESSION: Final = 1
# Bytes of a row and its index entries beyond the change itself.
_ROW_BYTES: Final = 48


class Stored(IntEnum):
    """How much of a post is stored."""

    STUB = 0
    PREVIEW = 1
    FULL = 2


class Ordered(IntEnum):
    """Where the place of a bookmark in its library comes from. A higher one wins."""

    IMPORT = 0
    POSITION = 1
    DATE = 2
    X = 3


class Deletion(Struct, frozen=True, array_like=True):
    """A post that its owner deleted."""

    post_id: str
    deleted_at: int
    # A source has to give a higher index to bring the post back.
    sort_index: int
    completeness: int
    order_source: int


class State(Struct, frozen=True, array_like=True):
    """Everything that a run can change on a bookmark. Labels are ids, in ascending order."""

    # Compressed.
    rendering: bytes
    content_hash: bytes
    sort_index: int
    imported_at: int
    bookmarked_at: int
    completeness: int
    order_source: int
    is_read: bool
    is_archived: bool
    labels: tuple[int, ...]


class Change(Struct, frozen=True, array_like=True):
    """What a run did to a bookmark."""

    # None if the run created the bookmark.
    before: State | None
    # After the run. Other values mean that the owner has changed them since.
    is_read: bool
    is_archived: bool
    labels: tuple[int, ...]
    # The mark of a deleted post that the run brought back.
    deletion: Deletion | None = None
    # What the run set removed_at to, "" if it removed it, or None if it did not change it. Another
    # value means that the source has said something since.
    removed_at: str | None = None


_pack: Final = msgspec.msgpack.Encoder().encode
_unpack: Final = msgspec.msgpack.Decoder(Change).decode


def pack(change: Change) -> bytes:
    return _pack(change)


def unpack(data: bytes) -> Change:
    return _unpack(data)


def packed_size(data: bytes) -> int:
    return len(data) + _ROW_BYTES


def compressed(rendering: bytes) -> bytes:
    return zlib.compress(rendering, _COMPRESSION)


def decompressed(data: bytes) -> bytes:
    return zlib.decompress(data)


# The kind of the run that fills in the demo library. No network gives an id in this range.
DEMO: Final = "demo"
FIRST_DEMO_ID: Final = 9 * 10**39
LAST_DEMO_ID: Final = FIRST_DEMO_ID + 999


class RunState(StrEnum):
    RUNNING = "running"
    FINISHED = "finished"
    # It ended before all posts were read.
    INTERRUPTED = "interrupted"
    # Some of its changes are undone. Undoing again continues.
    UNDOING = "undoing"
    UNDONE = "undone"


class RunCounts(Struct, frozen=True, kw_only=True):
    new: int = 0
    """Posts that the library did not have."""
    changed: int = 0
    """Posts that got more content, another place or more labels."""
    unchanged: int = 0
    """Posts that stayed the same, apart from their counts."""
    ignored_deleted: int = 0
    """Posts that the account has deleted and that were not saved again."""

    def __add__(self, other: "RunCounts") -> "RunCounts":
        return RunCounts(
            new=self.new + other.new,
            changed=self.changed + other.changed,
            unchanged=self.unchanged + other.unchanged,
            ignored_deleted=self.ignored_deleted + other.ignored_deleted,
        )


class UndoCounts(Struct, frozen=True, kw_only=True):
    removed: int = 0
    """New posts that were removed again."""
    restored: int = 0
    """Changed posts that are as they were before."""
    kept: int = 0
    """Posts that stay, because the account or a later import has changed them since."""

    def __add__(self, other: "UndoCounts") -> "UndoCounts":
        return UndoCounts(
            removed=self.removed + other.removed,
            restored=self.restored + other.restored,
            kept=self.kept + other.kept,
        )


class RunRow(Struct, frozen=True, kw_only=True):
    """A run as it is stored. Times are instants."""

    number: int
    run_id: str
    source: str
    kind: str
    client: str
    source_user_id: str
    state: RunState
    reason: str
    started_at: int
    finished_at: int | None
    counts: RunCounts
    placed_posts: int
    undone: UndoCounts
    # 0 if it cannot be undone.
    undo_until: int
    log_bytes: int
