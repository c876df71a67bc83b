"""How posts arrive: runs of imports and what they changed, and pages that devices send.

The records of an import are the incoming post, the stored one and the result.
"""

import zlib
from collections.abc import Sequence
from enum import IntEnum, StrEnum
from typing import Final, NamedTuple, Protocol, Self

import msgspec
from msgspec import UNSET, Struct, UnsetType

from bowerbird.model.posts.bookmarks import ImportRecord

# Fast, and halves a post. Most of the log is written during an import and never read.
_COMPRESSION: Final = 1
# Bytes of a row and its index entries beyond the change itself.
_ROW_BYTES: Final = 48


class Summed(Struct, frozen=True):
    """Two of the same kind are added field by field."""

    def __add__(self, other: Self) -> Self:
        names = self.__struct_fields__
        return type(self)(**{name: getattr(self, name) + getattr(other, name) for name in names})


class Completeness(IntEnum):
    """How much of a post is known. A richer record is never replaced by a poorer one."""

    # Only an id or link, perhaps with a text from a file.
    STUB = 0
    # The beginning of a text, as in lists of long posts.
    PREVIEW = 1
    FULL = 2


class OrderSource(IntEnum):
    """Where the place of a post in the library comes from. A higher one wins."""

    # Neither the source nor the order of its records says when the post was saved.
    IMPORT = 0
    FILE_POSITION = 1
    SAVED_DATE = 2
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


pack: Final = msgspec.msgpack.Encoder().encode
unpack: Final = msgspec.msgpack.Decoder(Change).decode


def packed_size(data: bytes) -> int:
    return len(data) + _ROW_BYTES


def compressed(rendering: bytes) -> bytes:
    return zlib.compress(rendering, _COMPRESSION)


# The kind of the run that fills in the demo library. No network gives an id in this range.
DEMO: Final = "demo"
FIRST_DEMO_ID: Final = 9 * 10**39
LAST_DEMO_ID: Final = FIRST_DEMO_ID + 999


class RunState(StrEnum):
    RUNNING = "running"
    FINISHED = "finished"
    # It ended before all posts were read. A device may go on with the same run.
    INTERRUPTED = "interrupted"
    # Some of its changes are undone. Undoing again continues.
    UNDOING = "undoing"
    UNDONE = "undone"


class RunCounts(Summed, frozen=True, kw_only=True):
    new: int = 0
    """Posts that the library did not have."""
    changed: int = 0
    """Posts that got more content, another place or more labels."""
    unchanged: int = 0
    """Posts that stayed the same, apart from their counts."""
    ignored_deleted: int = 0
    """Posts that the account has deleted and that were not saved again."""


class UndoCounts(Summed, frozen=True, kw_only=True):
    removed: int = 0
    """New posts that were removed again."""
    restored: int = 0
    """Changed posts that are as they were before."""
    kept: int = 0
    """Posts that stay, because the account or a later import has changed them since."""


class RunRow(Struct, frozen=True, kw_only=True):
    """A run as it is stored. Times are instants."""

    number: int
    run_id: str
    source: str
    kind: str
    client: str
    source_user_id: str = ""
    state: RunState = RunState.RUNNING
    reason: str = ""
    started_at: int
    finished_at: int | None = None
    counts: RunCounts = RunCounts()
    undone: UndoCounts = UndoCounts()
    placed_posts: int = 0
    # 0 if it cannot be undone.
    undo_until: int
    log_bytes: int = 0


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
    completeness: int = Completeness.FULL
    order_source: int = OrderSource.X


class Placement(Struct, frozen=True):
    """The position and the flags of a bookmark after the import."""

    sort_index: int
    imported_at: int
    bookmarked_at: int
    is_read: bool
    is_archived: bool
    completeness: int = Completeness.FULL
    order_source: int = OrderSource.X


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


class EndReason(StrEnum):
    """Why a client ends a run."""

    END = "end"
    CAUGHT_UP = "caught_up"
    INTERRUPTED = "interrupted"
    GAVE_UP = "gave_up"


# A run of what somebody saw while they browsed. It is not meant to read the whole list.
VISIT: Final = "visit"
# Kinds of runs that are told to stop where everything is known.
UP_TO_KNOWN: Final = ("incremental", VISIT)


class IngestRun(Struct, frozen=True):
    run_id: str
    device_id: str
    source: str
    kind: str
    source_user_id: str
    client: str
    # The import under which its posts are listed, or "" before the first post.
    import_id: str = ""
    state: str = RunState.RUNNING
    reason: str = ""
    # A page with only known posts at or below this index ends an incremental run.
    stop_below: int | None = None
    candidates: int = 0
    removed: int = 0
    started_at: int = 0
    updated_at: int = 0
    # Whether it read the list without a gap to its end, or to where the list was known.
    is_complete: bool = False
    # The highest index of the list, if the run is complete.
    highest: int | None = None

    @property
    def user(self) -> "SourceUser":
        return SourceUser(self.source, self.source_user_id)


class SourceUser(NamedTuple):
    """An account of a source, whose list a run reads."""

    source: str
    source_user_id: str


class OtherList(NamedTuple):
    """The list of another account of a source that has, or had, a post."""

    user: SourceUser
    # None if the post is still in it.
    removed_at: int | None


class GonePost(NamedTuple):
    """A post that a page lists and does not show."""

    post_id: str
    # In the words of the source, or "".
    reason: str
    sort_index: int | None


class HiddenPost(NamedTuple):
    """A post that is listed at its source but not available there, and not in the library."""

    gone_at: str
    reason: str
    # The index of X, if it gave one.
    sort_index: int | None


class RunProgress(Struct, frozen=True):
    pages: int
    next_seq: int
    # Where the list goes on, or "".
    cursor: str


class PageLink(Struct, frozen=True):
    """The place of a page in its list."""

    cursor_in: str
    cursor_out: str
    proves_end: bool
    is_readable: bool
    lowest: int | None
    highest: int | None
    # The client was told that the library has the rest of the list.
    is_caught_up: bool = False


class StoredPage(Struct, frozen=True, kw_only=True):
    run_id: str
    seq: int
    fingerprint: bytes
    answer: bytes
    # Whether it is a page of the list of all saved posts.
    is_listed: bool
    link: PageLink


class PageAddress(Struct, frozen=True, kw_only=True):
    """What says which page of a source it is."""

    format: str
    op: str = ""
    request_url: str = ""


class KeptPageHead(PageAddress, frozen=True, kw_only=True):
    """What is known about a kept page without its content."""

    kept_id: str
    problem: str


class KeptPage(KeptPageHead, frozen=True, kw_only=True):
    """A page that no reader understood."""

    run_id: str
    seq: int
    captured_at: int
    # Compressed.
    body: bytes
    created_at: int


# Files that were checked on the page for imports, until they are imported.
CHECKED_FILES: Final = "checked"


def checked_files_of(account_id: int) -> str:
    """The folder of such files of an account."""
    return f"{CHECKED_FILES}/{account_id}"


class FileImport(Struct, frozen=True):
    job_id: str
    is_dry_run: bool
    state: str
    # Bytes of the file that were read.
    done: int
    size: int
    # JSON.
    report: bytes
    error: str | None
    created_at: int
    # The server that imports the file renews it. If it is old, that server has stopped.
    alive_at: int
    completed_at: int | None
