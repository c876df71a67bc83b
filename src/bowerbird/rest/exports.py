"""/v1/exports: starting an export, its status and its file."""

import hashlib
from typing import Final
from urllib.parse import quote

from bowerbird.errors import Code, Refusal
from bowerbird.exports.tasks import FORMATS
from bowerbird.library.exports.exports import Download, ExportJob, retry_after_s
from bowerbird.model.accounts import Account
from bowerbird.requests import decoding, filters
from bowerbird.requests.exports import DownloadQuery, ExportRequest
from bowerbird.rest.serving import ExportService, Rest
from bowerbird.storage.database import Transaction
from bowerbird.wire.responses.answer_cache import is_among
from bowerbird.wire.responses.replies import Header, Reply
from bowerbird.wire.responses.streaming import (
    ByteRange,
    ExportResponse,
    NotSatisfiable,
    requested_range,
)
from bowerbird.wire.routes import ApiRoute, Call, Operation
from bowerbird.wire.writes import done, sent_fields

_ACCEPTED: Final = 202
_PARTIAL: Final = 206


CREATE: Final = {
    name: Operation(
        route=f"POST /v1/exports/{name}",
        name=f"createExport{name.capitalize()}",
        summary=f"Start an export as {format.title}. poll_url has its status.",
        data=ExportResponse,
        body=ExportRequest,
        is_body_required=False,
        statuses=(_ACCEPTED,),
        headers={"Location": True, "Retry-After": True},
        refusals=(Code.NOT_FOUND, Code.EXPORT_COUNT_LIMIT, Code.EXPORT_SIZE_LIMIT),
        is_in_sandbox=True,
    )
    for name, format in FORMATS.items()
}
GET: Final = Operation(
    route="GET /v1/exports/{job_id}",
    name="getExport",
    summary="Get the status of an export, and the link to its file once it is completed.",
    data=ExportResponse,
    headers={"Retry-After": False},
    is_tagged=False,
    # Waiting for an export is free. The published document has the 402 of the time when it was not.
    counts=lambda _: False,
    refusals=(Code.SUBSCRIPTION_REQUIRED,),
    is_in_sandbox=True,
)
DOWNLOAD: Final = Operation(
    route="GET /v1/exports/{job_id}/file",
    name="downloadExport",
    summary="Download the file of an export by the link of its job. Needs no key.",
    data=None,
    query=DownloadQuery,
    statuses=(200, _PARTIAL),
    headers={"Content-Disposition": True, "Accept-Ranges": True, "Content-Length": True},
    refusals=(Code.LINK_EXPIRED, Code.RANGE_NOT_SATISFIABLE),
    is_in_sandbox=True,
    is_public=True,
)


def routes(rest: Rest) -> list[ApiRoute]:
    exports, addresses = rest.exports, rest.addresses

    async def get_export(call: Call) -> Reply:
        # Not cached: progress changes without a new version of the library.
        job = await exports.get(call.account, call.path_params["job_id"])
        return done(addresses.response(job)).with_headers(*_retry_after(job))

    async def download(call: Call) -> Reply:
        token = decoding.from_query(call.target.query_string, DownloadQuery).token or ""
        found = await exports.download(call.path_params["job_id"], token)
        return await _file_reply(exports, call, found)

    async def check_vectors(transaction: Transaction, call: Call) -> None:
        if filters.MEANING in sent_fields(call.body):
            await exports.require_vectors(transaction, call.account)

    def starting(format: str) -> ApiRoute:
        async def create(
            transaction: Transaction, account: Account, request: ExportRequest
        ) -> Reply:
            job = await exports.create(transaction, account, format, request)
            headers = [(b"location", addresses.path(job).encode()), *_retry_after(job)]
            return done(addresses.response(job), status=_ACCEPTED).with_headers(*headers)

        return rest.write(CREATE[format], create, precheck=check_vectors, after=rest.wake)

    return [GET.served_by(get_export), DOWNLOAD.served_by(download), *map(starting, CREATE)]


def _retry_after(job: ExportJob) -> list[Header]:
    return [] if job.is_finished else [(b"retry-after", b"%d" % retry_after_s(job))]


async def _file_reply(exports: ExportService, call: Call, found: Download) -> Reply:
    size, tag = found.file.size, _tag(found)
    headers = _headers(found, tag)
    if is_among(tag, call.target.if_none_match):
        return Reply(304, _of_any_answer(tag))
    if call.method == "HEAD":
        # Range applies only to GET, and the headers do not need the file itself.
        return Reply(200, [*headers, (b"content-length", b"%d" % size)])
    span = _span(call, size, tag)
    part = span or ByteRange(0, size)
    opened = await exports.open(found.file, part.first, part.end)
    headers.append((b"content-length", b"%d" % (part.end - part.first)))
    if span is None:
        return Reply(200, headers, stream=opened.chunks)
    content_range = b"bytes %d-%d/%d" % (span.first, span.end - 1, size)
    return Reply(_PARTIAL, [*headers, (b"content-range", content_range)], stream=opened.chunks)


def _span(call: Call, size: int, tag: bytes) -> ByteRange | None:
    # If the file was created again since the download started, it is sent in full.
    if call.if_range is not None and call.if_range != tag:
        return None
    try:
        return requested_range(call.range, size)
    except NotSatisfiable:
        raise Refusal(
            Code.RANGE_NOT_SATISFIABLE,
            f"Range: starts past the end of the file, which has {size} bytes.",
            {"Content-Range": f"bytes */{size}"},
        ) from None


def _tag(found: Download) -> bytes:
    digest = hashlib.blake2b(found.file.name.encode(), digest_size=16).hexdigest()
    return f'"{digest}"'.encode()


def _headers(found: Download, tag: bytes) -> list[Header]:
    disposition = (
        f'attachment; filename="{found.plain_title}"; '
        f"filename*=UTF-8''{quote(found.title, safe='')}"
    )
    return [
        (b"content-type", found.file.media_type.encode()),
        (b"content-disposition", disposition.encode()),
        (b"accept-ranges", b"bytes"),
        *_of_any_answer(tag),
    ]


def _of_any_answer(tag: bytes) -> list[Header]:
    return [
        (b"etag", tag),
        (b"cache-control", b"private, no-store"),
        (b"x-content-type-options", b"nosniff"),
    ]
