"""Receives a file from a device: the body is the file itself, or a form with one file.

It may be compressed by gzip or zstd.
"""

import asyncio
from pathlib import Path
from typing import NamedTuple

from starlette.types import Receive

from bowerbird import errors
from bowerbird.ingest import bodies as ingest_bodies
from bowerbird.requests import limits
from bowerbird.wire import bodies, form_files


class Upload(NamedTuple):
    path: Path
    size: int


async def receive_file(
    receive: Receive, folder: Path, content_type: bytes, content_encoding: bytes | None
) -> Upload:
    """The received file in `folder`. Raises a refusal if it is too large or incomplete."""
    encoding = ingest_bodies.encoding_of(content_encoding)
    boundary = form_files.boundary_of(content_type)
    sent, file = folder / "sent", folder / "file"
    with form_files.created(sent) as target:
        await form_files.store(receive, target)
    if encoding:
        unpacked = folder / "unpacked"
        await asyncio.to_thread(_decompress, sent, unpacked, encoding)
        sent = unpacked
    if boundary is not None:
        await asyncio.to_thread(form_files.extract, sent, file, boundary)
        sent = file
    size = await asyncio.to_thread(lambda: sent.stat().st_size)
    if size > limits.INGEST_FILE_BYTES_MAX:
        raise bodies.too_large(limits.INGEST_FILE_BYTES_MAX)
    if not size:
        raise errors.invalid("body", "is empty; send a file")
    return Upload(sent, size)


def _decompress(source: Path, target: Path, encoding: bytes) -> None:
    with source.open("rb") as packed, form_files.created(target) as unpacked:
        ingest_bodies.decompress(packed, unpacked, encoding, form_files.MAX_BODY_BYTES)
