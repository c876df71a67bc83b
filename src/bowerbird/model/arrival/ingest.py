"""Runs and pages that devices send: what the protocol remembers of them."""

from enum import StrEnum
from typing import Final, NamedTuple

from msgspec import Struct

from bowerbird.model.arrival.imports import RunState


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
    last_seq: int | None


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
