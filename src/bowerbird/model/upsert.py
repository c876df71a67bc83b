"""A post on its way into a library, what the library holds of it already, and what results."""

from typing import Protocol

from msgspec import UNSET, Struct, UnsetType

from bowerbird.model.bookmarks import Arrival


class Incoming(Struct, frozen=True):
    """An arrival, checked: instants are numbers, tags are clean label names."""

    arrival: Arrival
    post_json: bytes
    content_hash: bytes
    posted_at: int
    imported_at: int | UnsetType = UNSET
    bookmarked_at: int | UnsetType = UNSET
    # Folded name -> name as written; None where the record says nothing of tags.
    tags: dict[str, str] | None = None

    @property
    def post_id(self) -> str:
        return self.arrival.post_id


class Known(Struct, frozen=True):
    """What a library holds of a post, as far as an intake compares it."""

    number: int
    content_hash: bytes
    sort_index: int
    imported_at: int
    bookmarked_at: int
    is_read: bool
    is_archived: bool
    # Folded names of its labels.
    tags: frozenset[str]


class Standing(Struct, frozen=True):
    """Place and state a bookmark has after the intake."""

    sort_index: int
    imported_at: int
    bookmarked_at: int
    is_read: bool
    is_archived: bool


class Counts(Struct, frozen=True):
    """The library's counters, or a change of them."""

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


class Flagged(Protocol):
    @property
    def is_read(self) -> bool: ...

    @property
    def is_archived(self) -> bool: ...


def counts_of(state: Flagged) -> Counts:
    """What one bookmark of this state adds to the counters."""
    is_unread = not state.is_read
    return Counts(1, is_unread, state.is_archived, is_unread and not state.is_archived)


class UpsertOutcome(Struct, frozen=True):
    """How an intake ended, in posts."""

    new: int = 0
    changed: int = 0
    unchanged: int = 0

    def __add__(self, other: "UpsertOutcome") -> "UpsertOutcome":
        return UpsertOutcome(
            self.new + other.new,
            self.changed + other.changed,
            self.unchanged + other.unchanged,
        )
