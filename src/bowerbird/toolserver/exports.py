"""The tools that ask for an export and fetch it."""

import asyncio
from collections.abc import Callable
from typing import Any, Final

import msgspec

from bowerbird.exports.formats import FORMATS
from bowerbird.library import export_bodies
from bowerbird.library.bodies import Body
from bowerbird.library.exports import ExportJob, Exports, retry_after_s
from bowerbird.model.jobs import State
from bowerbird.storage.database import Transaction
from bowerbird.toolserver import arguments, schemas
from bowerbird.toolserver.bookmarks import renamed
from bowerbird.toolserver.declared import READS, WRITES, Answer, Asked, Json, Offered, Tool
from bowerbird.toolserver.writing import written
from bowerbird.wire.writes import Writes

_LONGEST_WAIT_S: Final = 25
_LOOK_S: Final = 0.5
_MOST_IDS: Final = 100
_NOT_FIELDS: Final = ("format", "idempotency_key")
_JOB: Final = schemas.record(
    "An export and how far it is.",
    {
        "job_id": schemas.said("Names the export in get_export."),
        "format": schemas.said("Form of the file."),
        "status": schemas.choice(
            "pending or processing: not ready yet. completed: download_url leads to the file. "
            "failed: error says why. expired: ask for a new export.",
            *State,
        ),
        "done": schemas.count("Posts written so far."),
        "total": schemas.count("Posts to write."),
        "file_size": schemas.count("Bytes of the file."),
        "download_url": schemas.said(
            "Fetches the file without a key, for five minutes; get_export makes a new one."
        ),
        "expires_at": schemas.said("When download_url ends."),
        "error": schemas.said("Why the export failed."),
        "notes": schemas.many({"type": "string"}, "What is to be said of the file."),
        "advice": schemas.ADVICE,
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
        "format": schemas.choice("Form of the file.", *FORMATS),
        "is_unread_only": schemas.flag("Only posts not marked read yet.", default=False),
        "hide_archived": schemas.flag("Leave archived posts out.", default=False),
        **schemas.FILTERS,
        "q": schemas.WORDS,
        "view": schemas.text("Slug of a Smart View: export what it shows.", 100),
        "post_ids": schemas.ids("Export these posts only.", _MOST_IDS),
        "idempotency_key": schemas.IDEMPOTENCY_KEY,
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
        "job_id": schemas.text("job_id that create_export answered.", 64),
        "wait_s": schemas.number(
            "Seconds to wait for the end before answering.", 0, _LONGEST_WAIT_S, 0
        ),
    },
    required=("job_id",),
    answer=_JOB,
    hints=READS,
)
TOOLS: Final = (CREATE, GET)


def offered(exports: Exports, writes: Writes, wake: Callable[[], None]) -> list[Offered]:
    async def create_export(asked: Asked) -> Answer:
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

    async def get_export(asked: Asked) -> Answer:
        values = arguments.read(GET, asked.sent)
        job = await _awaited(exports, asked, values)
        return Answer(_shown(job), links=_links(job))

    return [Offered(CREATE, create_export), Offered(GET, get_export)]


async def _awaited(exports: Exports, asked: Asked, values: dict[str, Any]) -> ExportJob:
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
    if job.status in (State.FAILED, State.EXPIRED):
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
