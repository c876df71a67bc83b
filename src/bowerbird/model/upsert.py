"""The records of an import: the incoming post, the stored bookmark, and the result."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import UNSET, Struct, UnsetType

from bowerbird.model.bookmarks import ImportRecord
from bowerbird.model.imports import Ordered, Stored


class Incoming(Struct, frozen=True):
    """A validated record: dates are instants, tags are valid label names."""

    record: ImportRecord
    post_json: bytes
    content_hash: bytes
    posted_at: int
    imported_at: int | UnsetType = UNSET
    bookmarked_at: int | UnsetType = UNSET
    # Folded name -> name; None if the record has no field `tags`.
    tags: dict[str, str] | None = None
    # None: a complete post; placed by X if the record has a sort_index.
    completeness: int | None = None
    order_source: int | None = None

    @property
    def post_id(self) -> str:
        return self.record.post_id


class ExistingBookmark(Struct, frozen=True):
    """The fields of a stored bookmark that an import compares."""

    number: int
    content_hash: bytes
    sort_index: int
    imported_at: int
    bookmarked_at: int
    is_read: bool
    is_archived: bool
    # The folded names of its labels.
    tags: frozenset[str]
    completeness: int = Stored.FULL
    order_source: int = Ordered.X


class Placement(Struct, frozen=True):
    """The position and the flags of a bookmark after the import."""

    sort_index: int
    imported_at: int
    bookmarked_at: int
    is_read: bool
    is_archived: bool
    completeness: int = Stored.FULL
    order_source: int = Ordered.X


class Counts(Struct, frozen=True):
    """The counters of a library, or a change to them."""

    total: int = 0
    unread: int = 0
    archived: int = 0
    fresh: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.total + other.total,
            self.unread + other.unread,
            self.archived + other.archived,
            self.fresh + other.fresh,
        )

    def __neg__(self) -> "Counts":
        return Counts(-self.total, -self.unread, -self.archived, -self.fresh)


class HasFlags(Protocol):
    @property
    def is_read(self) -> bool: ...

    @property
    def is_archived(self) -> bool: ...


def counts_of(state: HasFlags) -> Counts:
    """The counters of one bookmark with these flags."""
    is_unread = not state.is_read
    return Counts(1, is_unread, state.is_archived, is_unread and not state.is_archived)


class LeftOutLabels(Struct, frozen=True):
    """Labels that an imported post did not get, because of a bound."""

    post_id: str
    names: Sequence[str]
    reason: str


class UpsertOutcome(Struct, frozen=True):
    """How many posts an import created, changed and left unchanged."""

    new: int = 0
    changed: int = 0
    unchanged: int = 0
    left_out: tuple[LeftOutLabels, ...] = ()

    def __add__(self, other: "UpsertOutcome") -> "UpsertOutcome":
        return UpsertOutcome(
            self.new + other.new,
            self.changed + other.changed,
            self.unchanged + other.unchanged,
            self.left_out + other.left_out,
        )
