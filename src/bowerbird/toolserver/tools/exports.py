"""The tools that start an export and fetch it."""

import asyncio
from functools import cached_property
from typing import Annotated, Any, ClassVar, Final

import msgspec
from msgspec import UNSET, Meta, Struct

from bowerbird.assembly import Services
from bowerbird.errors import Code, Refusal
from bowerbird.exports.tasks import FORMATS, FormatName
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.exports.exports import ExportJob, Exports, retry_after_s
from bowerbird.model.accounts import Account
from bowerbird.model.jobs import JobState
from bowerbird.requests.exports import ExportRequest, as_listed
from bowerbird.requests.fields import ToolPostIds, about
from bowerbird.requests.filters import WordFilters, check_filters, sent
from bowerbird.storage.database import Transaction
from bowerbird.toolserver.tools import binding, vocabulary
from bowerbird.toolserver.tools.results import guidance, response_size
from bowerbird.toolserver.tools.results.guidance import EmptyLists
from bowerbird.toolserver.tools.tool import (
    READS,
    WRITES,
    BoundTool,
    Json,
    Tool,
    ToolCall,
    ToolResult,
)
from bowerbird.wire.responses.streaming import ExportAddresses

_WAIT_MAX_S: Final = 25
_POLL_S: Final = 0.5
# An export that has taken longer may never finish.
_LONG_S: Final = 600
_NOTHING: Final = "There is nothing to export."


class CreateArguments(WordFilters, frozen=True, kw_only=True, dict=True):
    DEFAULTS: ClassVar[dict[str, bool]] = {"is_unread_only": False, "hide_archived": False}
    UNLISTED: ClassVar = (
        *("is_unread_only", "hide_archived", "unlabelled", "bookmarked_from", "bookmarked_to"),
    )

    format: Annotated[
        FormatName,
        about("markdown: zip with a file per post. netscape: links for browsers."),
    ]
    view: Annotated[
        Annotated[str, Meta(max_length=100)] | None,
        about("Slug of a Smart View: export its posts."),
    ] = None
    post_ids: Annotated[ToolPostIds | None, about("Export only these posts.")] = None
    idempotency_key: binding.IdempotencyKey = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_filters(self)
        _ = self.request

    @cached_property
    def request(self) -> ExportRequest:
        """Built with the struct, before a transaction opens."""
        return ExportRequest(**sent(self), view=self.view, post_ids=self.post_ids)

    @property
    def applied(self) -> dict[str, Any]:
        """The filters with their defaults, which a result repeats. A view has its own."""
        return sent(self) if self.view else {**self.DEFAULTS, **as_listed(sent(self))}

    @property
    def by_default(self) -> list[str]:
        """The flags that leave posts out although they were not sent."""
        flags = {name: self.applied.get(name) is True for name in self.DEFAULTS.keys() - sent(self)}
        return guidance.by_default(flags)


class GetArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    job_id: Annotated[str, Meta(max_length=64, description="job_id that create_export returned.")]
    wait_s: Annotated[
        Annotated[int, Meta(ge=0, le=_WAIT_MAX_S)] | None,
        about("Seconds to wait for the export to finish.", parameter={"default": 0}),
    ] = None


class Export(Struct, kw_only=True, omit_defaults=True):
    job_id: str
    format: str
    status: str
    done: int
    # Absent until a worker has counted the posts.
    total: int | None = None
    file_size: int | None = None
    # Works without a key until expires_at.
    download_url: str = ""
    expires_at: str = ""
    error: str | None = None
    notes: list[str]
    filters: Json | None = None
    advice: str = ""


CREATE: Final = Tool(
    name="create_export",
    title="Export saved posts to a file",
    description=(
        "Starts an export of all posts, or of those that match, read and archived ones too. "
        "get_export with the job_id and wait_s returns the link of the file."
    ),
    takes=CreateArguments,
    returns=Export,
    hints=WRITES,
)
GET: Final = Tool(
    name="get_export",
    title="Fetch an export",
    description=(
        "Returns the status of an export and, once it is completed, a link to the file for the "
        "user, which works without a key for five minutes. Send wait_s instead of polling."
    ),
    takes=GetArguments,
    returns=Export,
    hints=READS,
)


def bind(services: Services) -> list[BoundTool]:
    exports, addresses = services.exports, services.export_addresses

    async def prepare(account: Account, values: CreateArguments) -> tuple[int, list[str]]:
        """The number of posts, and what to say about those that are left out."""
        number = await exports.matching(account, values.format, values.request)
        if not number:
            return number, [await _why_nothing(services.bookmarks, account, values)]
        return number, await _left_out(exports, account, values, number)

    async def create(
        transaction: Transaction,
        account: Account,
        values: CreateArguments,
        matching: tuple[int, list[str]],
    ) -> Export:
        number, reasons = matching
        if not number:
            raise Refusal(Code.INVALID_REQUEST, f"{_NOTHING} {reasons[0]}")
        job = await exports.create(transaction, account, values.format, values.request)
        applied = vocabulary.in_published_words(values.applied)
        export = _export(job, addresses)
        export.total = number
        export.filters = response_size.short_filters(applied)
        export.advice = " ".join([*reasons, *filter(None, [export.advice])])
        return export

    async def get_export(call: ToolCall) -> ToolResult:
        values = binding.read(call, GetArguments)
        job = await _wait(exports, call, values)
        export = _export(job, addresses)
        if not job.is_finished:
            export.advice = _unfinished(job, exports.waiting_s(job))
        return ToolResult(export, links=_links(job, export.download_url))

    return [
        binding.writes(services, CREATE, create, prepare=prepare, wakes=True),
        # Waiting for an export is free, as in REST.
        BoundTool(GET, get_export, counts=lambda _: False),
    ]


async def _left_out(
    exports: Exports, account: Account, values: CreateArguments, shown: int
) -> list[str]:
    flags = values.by_default
    if not flags or not account.archived:
        return []
    whole = msgspec.structs.replace(values.request, **dict.fromkeys(flags, False))
    return guidance.included(flags, await exports.matching(account, values.format, whole) - shown)


async def _why_nothing(bookmarks: Bookmarks, account: Account, values: CreateArguments) -> str:
    if values.post_ids is not None:
        return "None of the posts in post_ids matches."
    if values.view is not None:
        return f"get_view_bookmarks shows the posts of the view {values.view}."
    return await EmptyLists(bookmarks).of_filters(account, values.applied)


async def _wait(exports: Exports, call: ToolCall, values: GetArguments) -> ExportJob:
    """The export once it is finished, or its state after wait_s seconds."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + (values.wait_s or 0)
    while True:
        job = await exports.get(call.account, values.job_id)
        left = deadline - loop.time()
        if job.is_finished or left <= 0:
            return job
        await asyncio.sleep(min(_POLL_S, left))


def _export(job: ExportJob, addresses: ExportAddresses) -> Export:
    response = addresses.response(job)
    progress = job.progress
    return Export(
        job_id=response.job_id,
        format=response.format,
        status=job.status,
        done=progress.done,
        # A worker counts the posts first.
        total=progress.total if progress.total or job.is_finished else None,
        file_size=response.file_size,
        download_url="" if response.download_url is UNSET else response.download_url,
        expires_at=""
        if response.expires_at is UNSET
        else response_size.second(response.expires_at),
        error=response.error,
        notes=response.notes,
        advice=_advice(job),
    )


def _advice(job: ExportJob) -> str:
    if not job.is_finished:
        now = f"Call get_export with this job_id and wait_s {_WAIT_MAX_S}"
        wait_s = retry_after_s(job)
        later = "1 second" if wait_s == 1 else f"{wait_s} seconds"
        return f"Not ready yet. {now}, or call it again in {later}."
    if job.status in (JobState.FAILED, JobState.EXPIRED):
        return "Call create_export again if the file is still needed."
    return ""


def _unfinished(job: ExportJob, waiting_s: int) -> str:
    """What is known about an export that takes its time, and since when."""
    if job.last_error:
        known = f"Attempt {job.attempts} failed: {job.last_error} It will be tried again."
    elif job.status == JobState.PROCESSING:
        since = f"{(job.started_at or '')[:19]}Z"
        known = f"A worker has been writing it since {since}: {job.progress.done} posts are done."
    else:
        known = f"No worker has started it since it was requested {waiting_s} seconds ago."
    if waiting_s >= _LONG_S:
        return f"{known} Tell the user that this takes unusually long, and stop waiting."
    return f"{known} {_advice(job)}"


def _links(job: ExportJob, download_url: str) -> list[Json]:
    """A link to the file, which clients can show."""
    if not download_url:
        return []
    form = FORMATS[job.format]
    link: Json = {
        "type": "resource_link",
        "uri": download_url,
        "name": f"bowerbird{form.suffix}",
        "title": f"Export as {form.title}",
        "mimeType": form.media_type,
    }
    return [link if job.file_size is None else {**link, "size": job.file_size}]
