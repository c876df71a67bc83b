"""/v1/exports: asking for one, how it stands, and its file."""

import hashlib
from collections.abc import Callable
from typing import Final
from urllib.parse import quote

import msgspec

from bowerbird.errors import Code, Refusal
from bowerbird.library.exports.exports import Download, ExportJob, Exports, retry_after_s
from bowerbird.storage.database import Transaction
from bowerbird.wire import query_strings
from bowerbird.wire.answer_cache import is_among
from bowerbird.wire.idempotency import CallEffect, IdempotentWrites, done
from bowerbird.wire.replies import Header, Reply
from bowerbird.wire.routes import ApiRoute, Call
from bowerbird.wire.streaming import ByteRange, NotSatisfiable, asked_span

FORMATS: Final = ("pdf", "csv", "json")
LINK_PARAMETERS: Final = ("token",)
_ACCEPTED: Final = 202
_PARTIAL: Final = 206


def endpoints(exports: Exports) -> list[ApiRoute]:
    async def get_export(call: Call) -> Reply:
        # Not kept like other answers: progress changes without a new version of the library.
        job = await exports.get(call.account, call.path_params["job_id"])
        return _with_headers(done(job), _waiting(job))

    async def download(call: Call) -> Reply:
        token = query_strings.given(call.asked.query_string, LINK_PARAMETERS).get("token", "")
        found = await exports.download(call.path_params["job_id"], token)
        return await _file_reply(exports, call, found)

    return [
        ApiRoute("GET", "/v1/exports/{job_id}", get_export),
        ApiRoute("GET", "/v1/exports/{job_id}/file", download, is_public=True),
    ]


def write_endpoints(
    exports: Exports, writes: IdempotentWrites, wake: Callable[[], None] = lambda: None
) -> list[ApiRoute]:
    """`wake` is called once an export is on disk, for a worker in the same process."""

    def creator(format: str) -> CallEffect:
        async def create(transaction: Transaction, call: Call) -> Reply:
            job = await exports.create(transaction, call.account, format, call.json)
            headers = [(b"location", job.path.encode()), *_waiting(job)]
            return _with_headers(done(job, status=_ACCEPTED), headers)

        return create

    def endpoint(format: str) -> ApiRoute:
        write = writes.handler(creator(format))

        async def handle(call: Call) -> Reply:
            reply = await write(call)
            wake()
            return reply

        return ApiRoute("POST", f"/v1/exports/{format}", handle)

    return [endpoint(format) for format in FORMATS]


def _waiting(job: ExportJob) -> list[Header]:
    return [] if job.is_finished else [(b"retry-after", b"%d" % retry_after_s(job))]


def _with_headers(reply: Reply, headers: list[Header]) -> Reply:
    return msgspec.structs.replace(reply, headers=[*reply.headers, *headers])


async def _file_reply(exports: Exports, call: Call, found: Download) -> Reply:
    size, tag = found.file.size, _tag(found)
    headers = _headers(found, tag)
    if is_among(tag, call.asked.if_none_match):
        return Reply(304, _of_any_answer(tag))
    if call.method == "HEAD":
        # Ranges are for GET alone, and no file is opened for its headers.
        return Reply(200, [*headers, (b"content-length", b"%d" % size)])
    span = _span(call, size, tag)
    part = span or ByteRange(0, size)
    opened = await exports.open(found.file, part.first, part.end)
    headers.append((b"content-length", b"%d" % (part.end - part.first)))
    if span is None:
        return Reply(200, headers, stream=opened.chunks)
    told = b"bytes %d-%d/%d" % (span.first, span.end - 1, size)
    return Reply(_PARTIAL, [*headers, (b"content-range", told)], stream=opened.chunks)


def _span(call: Call, size: int, tag: bytes) -> ByteRange | None:
    # A file that was made anew meanwhile is sent from its beginning.
    if call.if_range is not None and call.if_range != tag:
        return None
    try:
        return asked_span(call.range, size)
    except NotSatisfiable:
        raise Refusal(
            Code.RANGE_NOT_SATISFIABLE,
            f"Range: the file has {size} bytes, and none of those.",
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
