"""Sends answers in chunks until the client disconnects. Range headers.

An export as the API returns it: the job and its URLs.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

from msgspec import UNSET, Struct, UnsetType
from starlette.types import Receive, Send

from bowerbird.library.exports.exports import ExportJob, ExportProgress

_RANGE: Final = re.compile(rb"bytes=(\d{0,18})-(\d{0,18})", re.IGNORECASE)

# How much of an answer the server may buffer before the client reads it.
_PIECE_BYTES: Final = 64 * 1024


class ResponseTimeout(Exception):  # noqa: N818 - named for what it is
    """The client did not receive its answer in time."""


class ByteRange(Struct, frozen=True):
    """Bytes from `first` up to, not including, `end`."""

    first: int
    end: int


class NotSatisfiable(Exception):  # noqa: N818 - named for what it is
    """The requested range contains no byte of the file."""


def requested_range(header: bytes | None, size: int) -> ByteRange | None:
    """The range that a Range header requests of a file of this size; None for the whole file."""
    match = _RANGE.fullmatch((header or b"").replace(b" ", b""))
    if match is None or not (match[1] or match[2]):
        return None
    if not match[1]:
        span = ByteRange(max(size - int(match[2]), 0), size)
    else:
        end = int(match[2]) + 1 if match[2] else size
        if match[2] and end <= int(match[1]):
            return None
        span = ByteRange(int(match[1]), min(end, size))
    if span.first >= span.end:
        raise NotSatisfiable
    return span


async def send_all(
    pieces: AsyncIterator[bytes], receive: Receive, send: Send, *, is_head: bool
) -> None:
    """Stops reading `pieces` as soon as the client disconnects."""
    sending = asyncio.create_task(_send(pieces, send, is_head=is_head))
    disconnecting = asyncio.create_task(_until_disconnected(receive))
    try:
        await asyncio.wait((sending, disconnecting), return_when=asyncio.FIRST_COMPLETED)
        if sending.done():
            await sending
    finally:
        for task in (sending, disconnecting):
            task.cancel()
        await asyncio.gather(sending, disconnecting, return_exceptions=True)


async def _send(pieces: AsyncIterator[bytes], send: Send, *, is_head: bool) -> None:
    if not is_head:
        async for piece in pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def _until_disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def in_time(send: Send, limit_s: float) -> Send:
    """Sends in pieces; raises ResponseTimeout if the whole answer takes longer than the limit."""
    deadline: float | None = None

    async def send_in_time(message: Any) -> None:
        nonlocal deadline
        deadline = deadline or asyncio.get_running_loop().time() + limit_s
        try:
            async with asyncio.timeout_at(deadline):
                for piece in _pieces(message):
                    await send(piece)
        except TimeoutError:
            raise ResponseTimeout from None

    return send_in_time


def _pieces(message: Any) -> Iterator[Any]:
    body: bytes = message.get("body", b"")
    for start in range(0, len(body) - _PIECE_BYTES, _PIECE_BYTES):
        yield {**message, "body": body[start : start + _PIECE_BYTES], "more_body": True}
    last = max(len(body) - 1, 0) // _PIECE_BYTES * _PIECE_BYTES
    yield {**message, "body": body[last:]} if last else message


class ExportResponse(Struct, frozen=True, kw_only=True):
    job_id: str
    """Identifier of the export."""
    format: str
    """pdf, csv, json, markdown or netscape."""
    status: str
    """pending, processing, completed, failed or expired."""
    progress: ExportProgress
    """Progress of the export."""
    poll_url: str
    """URL to poll for the status."""
    file_size: int | None
    """Size of the file in bytes, once it exists."""
    error: str | None
    """Why it failed, in a sentence for people to read."""
    notes: list[str]
    """Sentences about the file, such as which scripts lack a font."""
    created_at: str
    """When it was requested."""
    completed_at: str | None
    """When the file was completed."""
    attempts: int = 0
    """How often a worker has started it."""
    started_at: str | None = None
    """When a worker started it last, or null."""
    last_error: str | None = None
    """Why the last attempt failed, while it waits for the next one, or null."""
    download_url: str | UnsetType = UNSET
    """Link to the file, valid for five minutes; only if completed."""
    expires_at: str | UnsetType = UNSET
    """When download_url expires; only if completed."""


class ExportAddresses(Struct, frozen=True):
    """Builds the URLs of export jobs."""

    api_origin: str
    prefix: str = "/v1/exports"

    def path(self, job: ExportJob) -> str:
        return f"{self.prefix}/{job.job_id}"

    def response(self, job: ExportJob) -> ExportResponse:
        poll_url = self.api_origin + self.path(job)
        return ExportResponse(
            job_id=job.job_id,
            format=job.format,
            status=job.status,
            progress=job.progress,
            poll_url=poll_url,
            file_size=job.file_size,
            error=job.error,
            notes=job.notes,
            created_at=job.created_at,
            completed_at=job.completed_at,
            attempts=job.attempts,
            started_at=job.started_at,
            last_error=job.last_error,
            download_url=f"{poll_url}/file?token={job.link.token}" if job.link else UNSET,
            expires_at=job.link.expires_at if job.link else UNSET,
        )
