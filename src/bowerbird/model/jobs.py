"""Jobs: work that outlives the request that asked for it."""

from enum import StrEnum
from typing import Final

from msgspec import Struct

# Lower comes first. Behind EXPORTS, no job takes a worker's last lane.
EXPORTS: Final = 10
DIGESTS: Final = 20
EMBEDDING: Final = 50
MOST_TRIES: Final = 3


class JobState(StrEnum):
    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"
    EXPIRED = "expired"


UNFINISHED: Final = frozenset({JobState.PENDING, JobState.PROCESSING})


class Job(Struct, frozen=True):
    """A job as the worker has it that claimed it."""

    account_id: int
    job_id: str
    kind: str
    parameters: bytes
    # How often it was begun, this time included.
    tries: int
    priority: int = EXPORTS
    # The number under which it was claimed; another one means that somebody else has it.
    fence: int = 0


class JobResponse(Struct, frozen=True):
    """How a job stands."""

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


class JobCount(Struct, frozen=True):
    kind: str
    state: str
    count: int
    # When the oldest of them was made.
    oldest_at: int
