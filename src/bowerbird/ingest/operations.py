"""Every operation of /ingest/v1: what it accepts and returns."""

from collections.abc import Awaitable, Callable
from typing import Final

from msgspec import Struct

from bowerbird.errors import Code
from bowerbird.library.imports.report import ImportReport
from bowerbird.library.imports.saving import SaveResult
from bowerbird.library.ingest.events import EventsResult
from bowerbird.library.ingest.pages import PageResult
from bowerbird.library.ingest.runs import FinishedRun, IngestStatus, RunStatus, StartedRun
from bowerbird.model.accounts import Account
from bowerbird.requests import limits
from bowerbird.requests.saving import (
    Event,
    FileQuery,
    FinishRequest,
    PageRequest,
    RunRequest,
    SaveRequest,
)
from bowerbird.wire.pipeline import MAX_BODY_BYTES, Request
from bowerbird.wire.responses.envelope import BatchMeta
from bowerbird.wire.responses.replies import Reply
from bowerbird.wire.router import Served
from bowerbird.wire.routes import NOBODY, Operation

PREFIX: Final = "/ingest/v1"


class SuggestedLabel(Struct, frozen=True):
    name: str
    """Name of the label."""
    count: int
    """Number of bookmarks with this label."""


class FileProgress(Struct, frozen=True):
    """In bytes."""

    done: int
    """Bytes of the file that were read so far. All of them once it is completed."""
    total: int
    """Size of the file in bytes."""


class FileResponse(Struct, frozen=True, kw_only=True):
    """A file that is imported in the background. Poll it like an export."""

    job_id: str
    """The import of the file."""
    status: str
    is_dry_run: bool
    """Whether the library stays as it is."""
    progress: FileProgress
    """How much of the file was read."""
    poll_url: str
    """Where to get the progress and the report."""
    file_size: int
    """Size of the file in bytes."""
    error: str | None
    """Why the import failed, or null."""
    report: ImportReport
    created_at: str
    """When the file was received: ISO 8601 with an offset."""
    completed_at: str | None
    """When the import ended, or null."""


def _free(_: bytes) -> bool:
    """Sending posts costs a free account no call."""
    return False


class IngestOperation(Operation, frozen=True, kw_only=True):
    # Whether a retry gets the first answer. The other operations may be repeated as they are.
    takes_key: bool = False
    counts: Callable[[bytes], bool] = _free

    @property
    def is_keyed(self) -> bool:
        return self.takes_key


START_RUN: Final = IngestOperation(
    route=f"POST {PREFIX}/runs",
    name="startRun",
    takes_key=True,
    summary="Start a run. The answer says where to stop, and which run can be continued.",
    data=StartedRun,
    body=RunRequest,
    statuses=(201,),
    headers={"Location": True},
    refusals=(Code.SOURCE_USER_MISMATCH,),
)
GET_RUN: Final = IngestOperation(
    route=f"GET {PREFIX}/runs/{{run_id}}",
    name="getRun",
    summary="Get the state of a run.",
    data=RunStatus,
    is_tagged=False,
)
SEND_PAGE: Final = IngestOperation(
    route=f"POST {PREFIX}/runs/{{run_id}}/pages",
    name="sendPage",
    takes_key=True,
    summary="Send one page of the list, as the source answered. A repeated page is answered again.",
    data=PageResult,
    body=PageRequest,
    refusals=(Code.RUN_FINISHED,),
)
FINISH_RUN: Final = IngestOperation(
    route=f"POST {PREFIX}/runs/{{run_id}}/finish",
    name="finishRun",
    summary="End a run. A full run to the end of the list finds posts that were removed from it.",
    data=FinishedRun,
    body=FinishRequest,
)
SEND_EVENTS: Final = IngestOperation(
    route=f"POST {PREFIX}/events",
    name="sendEvents",
    summary="Tell that posts were saved or removed at the source. The last event of a post wins.",
    data=EventsResult,
    body=Event,
)
SEND_FILE: Final = IngestOperation(
    route=f"POST {PREFIX}/files",
    name="sendFile",
    summary="Import a file in any format that the import command reads. poll_url has the report.",
    data=FileResponse,
    query=FileQuery,
    statuses=(202,),
    headers={"Location": True, "Retry-After": True},
)
GET_FILE: Final = IngestOperation(
    route=f"GET {PREFIX}/files/{{job_id}}",
    name="getFile",
    summary="Get the progress of a file, and the report about it.",
    data=FileResponse,
    headers={"Retry-After": False},
    is_tagged=False,
)
STATUS: Final = IngestOperation(
    route=f"GET {PREFIX}/status",
    name="getStatus",
    summary="Get the last run, totals, and how much may still be sent today.",
    data=IngestStatus,
    is_tagged=False,
)
LIST_LABELS: Final = IngestOperation(
    route=f"GET {PREFIX}/labels",
    name="listLabels",
    summary=f"Get the {limits.DEVICE_LABELS_MAX} most used labels, for suggestions.",
    data=SuggestedLabel,
    is_many=True,
    is_tagged=False,
)
SAVE: Final = IngestOperation(
    route=f"POST {PREFIX}/bookmarks",
    name="saveBookmarks",
    takes_key=True,
    summary=(
        f"Save up to {limits.SAVED_MAX} posts or links, as with POST /v1/bookmarks; 207 if any "
        "failed."
    ),
    data=SaveResult,
    meta=BatchMeta,
    body=SaveRequest,
    statuses=(200, 207),
)
OPERATIONS: Final = (
    START_RUN,
    GET_RUN,
    SEND_PAGE,
    FINISH_RUN,
    SEND_EVENTS,
    SEND_FILE,
    GET_FILE,
    LIST_LABELS,
    SAVE,
    STATUS,
)

IngestHandler = Callable[[Account, Request], Awaitable[Reply]]


def served_by(
    operation: Operation, handle: IngestHandler, max_body_bytes: int = MAX_BODY_BYTES
) -> Served:
    """The operation with its handler, which receives the body itself."""

    async def run(request: Request) -> Reply:
        return await handle(request.account or NOBODY, request)

    return Served(
        method=operation.method, path=operation.path, handle=run, max_body_bytes=max_body_bytes
    )
