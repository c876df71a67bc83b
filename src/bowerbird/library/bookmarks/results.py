"""What lists and counts of bookmarks return, and what they take beside a query."""

from enum import Enum, auto
from typing import Any

from msgspec import Struct

from bowerbird.model.filters import BookmarkFilter
from bowerbird.model.vectors import VectorStoreState


class ByMeaning(Enum):
    """Whether a search by meaning could find what the words of a search did not."""

    READY = auto()
    BUILDING = auto()


class BookmarkList(Struct, frozen=True):
    """One page. `body` is its bookmarks as JSON, separated by commas."""

    body: bytes
    count: int
    next_cursor: str | None
    limit: int
    total_count: int
    # How many read or archived bookmarks match, if nothing else does or only by its meaning.
    hidden: int = 0
    # How many bookmarks a search by meaning cannot find yet.
    vector_pending: int = 0
    # If it was asked for: the cursor of the page before, "" for the first page.
    newer_cursor: str | None = None
    # What the search did not understand.
    hints: tuple[str, ...] = ()
    # Why the search found nothing or only similar posts.
    reason: str = ""
    # Whether no bookmark has every word of q, so that those with enough of them are listed.
    is_relaxed: bool = False
    # q with other words in place of those that no bookmark has.
    did_you_mean: str | None = None
    # Set if a question found nothing, or posts with some of its words.
    by_meaning: ByMeaning | None = None

    @property
    def hint(self) -> str:
        return " ".join(sentence for sentence in (*self.hints, self.reason) if sentence)


class SavedFilter(Struct, frozen=True):
    """The filter of a stored query, and the value that its cursors are bound to."""

    filter: BookmarkFilter
    bound_to: Any


class VectorState(Struct, frozen=True):
    """The state of an account's vectors, read once per request."""

    store: VectorStoreState | None
    # Whether this process can build vectors.
    can_build: bool = False

    @property
    def by_meaning(self) -> ByMeaning | None:
        if self.store is not None:
            return ByMeaning.READY
        return ByMeaning.BUILDING if self.can_build else None

    @property
    def tag(self) -> str:
        """Changes whenever the answer to a search by meaning may change."""
        store = self.store
        if store is None:
            return "building" if self.can_build else ""
        return ".".join(p.hex() if isinstance(p, bytes) else str(p) for p in store.version)


class BookmarkCounts(Struct, frozen=True):
    count: int
    """Bookmarks that match the filters."""
    total: int
    """All bookmarks in the library."""
    unread: int
    """Unread bookmarks, archived ones too."""
    archived: int
    """Archived bookmarks."""
