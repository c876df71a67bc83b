"""Background jobs: work that continues after the request that started it, such as an export."""

from enum import StrEnum
from typing import Any, Final

from msgspec import Struct

# The lowest number runs first. Jobs with a number above EXPORTS never take a worker's last slot.
CHANGES: Final = 5
EXPORTS: Final = 10
DIGESTS: Final = 20
RULES: Final = DIGESTS
EMBEDDING: Final = 50
# Equal priorities: these jobs take turns with embedding.
MEDIA: Final = EMBEDDING
REINDEXING: Final = EMBEDDING
# They have lanes of their own in a worker.
SOURCES: Final = 60
WEBHOOKS: Final = SOURCES
LINKS: Final = SOURCES
MAX_TRIES: Final = 3
# What people call each kind of job.
KIND_NAMES: Final = {
    "change": "change",
    "digest": "digest",
    "embed": "search by meaning",
    "export": "export",
    "links": "link",
    "media": "image",
    "reindex": "search by words",
    "rules": "rule",
    "sources": "source",
    "webhooks": "webhook",
}


class JobState(StrEnum):
    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"
    EXPIRED = "expired"


UNFINISHED: Final = frozenset({JobState.PENDING, JobState.PROCESSING})


class Job(Struct, frozen=True):
    """A job that a worker has claimed."""

    account_id: int
    job_id: str
    kind: str
    parameters: bytes
    # How many times it was started, including this time.
    tries: int
    priority: int = EXPORTS
    # A new number per claim. If the stored number differs, another worker has claimed the job.
    fence: int = 0


class JobResponse(Struct, frozen=True):
    """The state and the progress of a job."""

    account_id: int
    job_id: str
    kind: str
    state: str
    tries: int
    done: int
    total: int
    parameters: bytes
    result: bytes | None
    error: str | None
    created_at: int
    completed_at: int | None
    expires_at: int | None
    # When a worker started it last.
    started_at: int | None = None


class JobCount(Struct, frozen=True):
    kind: str
    state: str
    count: int
    # When the oldest of them was created.
    oldest_at: int


class QueueState(Struct, frozen=True):
    # Jobs that a worker may start now, and how long the first of them has waited, in microseconds.
    due: int
    waited: int
    # Jobs that a worker runs at this moment.
    running: int


class OpenJob(Struct, frozen=True):
    """A job that is not finished or has failed, as the operator sees it."""

    account_id: int
    job_id: str
    kind: str
    state: str
    done: int
    total: int
    error: str | None
    created_at: int
    # None if the account is partly deleted.
    email: str | None


KIND: Final = "export"
FOLDER: Final = "exports"
RETENTION_S: Final = 24 * 3_600


def folder_of(account_id: int) -> str:
    return f"{FOLDER}/{account_id}"


class ExportQuery(Struct, frozen=True, kw_only=True):
    """The parameters of an export job."""

    format: str
    # Query parameters as for a list. Unlike a list, an export includes read and archived
    # bookmarks by default.
    given: dict[str, Any] = {}
    post_ids: list[str] | None = None
    # The Smart View, if the request named one.
    view_slug: str = ""
    view_name: str = ""
    # The parameters that the request added to those of the view.
    further: dict[str, Any] = {}


class ExportFile(Struct, frozen=True, kw_only=True):
    """The result of an export job. The notes are for the user."""

    name: str
    size: int
    media_type: str
    suffix: str
    notes: list[str] = []
