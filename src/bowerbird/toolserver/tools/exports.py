"""The tools that ask for an export and fetch it."""

import asyncio
from collections.abc import Callable
from typing import Any, Final

import msgspec

from bowerbird.exports.formats import FORMATS
from bowerbird.library.access.bodies import Body
from bowerbird.library.exports import export_bodies
from bowerbird.library.exports.exports import ExportJob, Exports, retry_after_s
from bowerbird.model.jobs import JobState
from bowerbird.storage.database import Transaction
from bowerbird.toolserver.tools import arguments, json_schemas
from bowerbird.toolserver.tools.bookmarks import renamed
from bowerbird.toolserver.tools.tool import (
    READS,
    WRITES,
    BoundTool,
    Json,
    Tool,
    ToolCall,
    ToolResult,
)
from bowerbird.toolserver.tools.writes import written
from bowerbird.wire.idempotency import IdempotentWrites

_LONGEST_WAIT_S: Final = 25
_LOOK_S: Final = 0.5
_MOST_IDS: Final = 100
_NOT_FIELDS: Final = ("format", "idempotency_key")
_JOB: Final = json_schemas.record(
    "An export and how far it is.",
    {
        "job_id": json_schemas.said("Names the export in get_export."),
        "format": json_schemas.said("Form of the file."),
        "status": json_schemas.choice(
            "pending or processing: not ready yet. completed: download_url leads to the file. "
            "failed: error says why. expired: ask for a new export.",
            *JobState,
        ),
        "done": json_schemas.count("Posts written so far."),
        "total": json_schemas.count("Posts to write."),
        "file_size": json_schemas.count("Bytes of the file."),
        "download_url": json_schemas.said(
            "Fetches the file without a key, for five minutes; get_export makes a new one."
        ),
        "expires_at": json_schemas.said("When download_url ends."),
        "error": json_schemas.said("Why the export failed."),
        "notes": json_schemas.many({"type": "string"}, "What is to be said of the file."),
        "advice": json_schemas.ADVICE,
    },
    optional=("file_size", "download_url", "expires_at", "error", "advice"),
)

CREATE: Final = Tool(
    name="create_export",
    title="Export saved posts to a file",
    description=(
        "Starts an export of the library, or of the posts that match, as PDF, CSV or JSON. Without "
        "filters it holds everything, read and archived posts too. The file is made in the "
        "background: call get_export with the job_id and wait_s to get its link."
    ),
    arguments={
        "format": json_schemas.choice("Form of the file.", *FORMATS),
        "is_unread_only": json_schemas.flag("Only posts not marked read yet.", default=False),
        "hide_archived": json_schemas.flag("Leave archived posts out.", default=False),
        **json_schemas.FILTERS,
        "q": json_schemas.WORDS,
        "view": json_schemas.text("Slug of a Smart View: export what it shows.", 100),
        "post_ids": json_schemas.ids("Export these posts only.", _MOST_IDS),
        "idempotency_key": json_schemas.IDEMPOTENCY_KEY,
    },
    required=("format",),
    answer=_JOB,
    hints=WRITES,
)
GET: Final = Tool(
    name="get_export",
    title="Fetch an export",
    description=(
        "Tells how far an export is; when it is completed, with a link that downloads the file "
        "without a key for five minutes. Give the link to the user. wait_s waits for the end "
        "instead of asking again and again."
    ),
    arguments={
        "job_id": json_schemas.text("job_id that create_export answered.", 64),
        "wait_s": json_schemas.number(
            "Seconds to wait for the end before answering.", 0, _LONGEST_WAIT_S, 0
        ),
    },
    required=("job_id",),
    answer=_JOB,
    hints=READS,
)
TOOLS: Final = (CREATE, GET)


def offered(
    exports: Exports, writes: IdempotentWrites, wake: Callable[[], None]
) -> list[BoundTool]:
    async def create_export(asked: ToolCall) -> ToolResult:
        async def effect(transaction: Transaction, body: Body) -> Json:
            export_bodies.check_plan(asked.account, asked.sent)
            values = body()
            fields = renamed({n: v for n, v in values.items() if n not in _NOT_FIELDS})
            return _shown(
                await exports.create(transaction, asked.account, values["format"], lambda: fields)
            )

        answer = await written(writes, asked, CREATE, effect)
        wake()
        return answer

    async def get_export(asked: ToolCall) -> ToolResult:
        values = arguments.read(GET, asked.sent)
        job = await _awaited(exports, asked, values)
        return ToolResult(_shown(job), links=_links(job))

    return [BoundTool(CREATE, create_export), BoundTool(GET, get_export)]


async def _awaited(exports: Exports, asked: ToolCall, values: dict[str, Any]) -> ExportJob:
    """The export when it has ended, or as it is when the time is up."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + values.get("wait_s", 0)
    while True:
        job = await exports.get(asked.account, values["job_id"])
        left = deadline - loop.time()
        if job.is_finished or left <= 0:
            return job
        await asyncio.sleep(min(_LOOK_S, left))


def _shown(job: ExportJob) -> Json:
    whole: Json = msgspec.to_builtins(job)
    known = {name: whole.get(name) for name in _JOB["properties"]}
    known |= {"done": job.progress.done, "total": job.progress.total, "advice": _advice(job)}
    return {name: value for name, value in known.items() if value is not None}


def _advice(job: ExportJob) -> str | None:
    if not job.is_finished:
        wait = f"call get_export with this job_id and wait_s {_LONGEST_WAIT_S}"
        return f"Not ready yet: {wait}, or in {retry_after_s(job)} seconds."
    if job.status in (JobState.FAILED, JobState.EXPIRED):
        return "Call create_export again, if the file is still wanted."
    return None


def _links(job: ExportJob) -> list[Json]:
    """The file as a link that a client can show."""
    if not isinstance(job.download_url, str):
        return []
    form = FORMATS[job.format]
    link: Json = {
        "type": "resource_link",
        "uri": job.download_url,
        "name": f"bowerbird{form.suffix}",
        "title": f"Export as {job.format.upper()}",
        "mimeType": form.media_type,
    }
    return [link if job.file_size is None else {**link, "size": job.file_size}]
