"""Reads the bodies and files that devices send: large, and perhaps compressed by gzip or zstd."""

import asyncio
import io
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Final, NamedTuple, TypeVar

import zstandard
from starlette.types import Receive

from bowerbird import errors
from bowerbird.errors import Code, Refusal
from bowerbird.requests import decoding, limits
from bowerbird.wire import bodies, form_files
from bowerbird.wire.pipeline import ACCOUNT, Request

T = TypeVar("T")

ENCODINGS: Final = (b"gzip", b"zstd")
# More than any encoder uses for a body of this size.
MAX_WINDOW_BYTES: Final = 8 * 1024 * 1024
_PIECE: Final = 64 * 1024
# All that a piece contains is decompressed at once: up to 128 KiB for every four bytes.
_ZSTD_PIECE: Final = 256


async def received(
    request: Request, decode: Callable[[bytes], T], most: int = bodies.MAX_BYTES
) -> T:
    """The request in a body. Large and compressed bodies are read on a thread."""
    encoding = encoding_of(request.headers.get(b"content-encoding"))
    body = await bodies.read(request.receive, most)

    def work() -> T:
        return decode(decompressed(body, encoding, most))

    size = most if encoding else len(body)
    return await bodies.off_loop(size, request.scope[ACCOUNT], work)


def checked(body: bytes) -> bytes:
    decoding.check_excess(body)
    return body


def encoding_of(header: bytes | None) -> bytes:
    """Checked before the body is read: gzip, zstd or nothing."""
    encoding = (header or b"").strip().lower()
    if encoding in (b"", b"identity"):
        return b""
    if encoding not in ENCODINGS:
        raise errors.invalid("Content-Encoding", "must be gzip, zstd or absent")
    return encoding


def decompressed(body: bytes, encoding: bytes, most: int) -> bytes:
    """The result has at most `most` bytes. May take milliseconds: use a thread."""
    if not encoding:
        return body
    target = io.BytesIO()
    least = max(bodies.MAX_BYTES, limits.INGEST_RATIO_MAX * len(body))
    try:
        decompress(io.BytesIO(body), target, encoding, min(most, least))
    except Refusal as refused:
        if refused.code is not Code.PAYLOAD_TOO_LARGE or most <= least:
            raise
        raise Refusal(
            Code.PAYLOAD_TOO_LARGE,
            f"The body is larger than 1 MiB and more than {limits.INGEST_RATIO_MAX} times what was "
            "sent. Send it with less compression.",
        ) from None
    return target.getvalue()


def decompress(source: IO[bytes], target: IO[bytes], encoding: bytes, most: int) -> None:
    """Decompresses one complete stream. The size is counted while decompressing."""
    name, size = encoding.decode(), 0
    try:
        for piece in _gunzipped(source) if encoding == b"gzip" else _unzstd(source):
            size += len(piece)
            if size > most:
                raise bodies.too_large(most)
            target.write(piece)
    except EOFError:
        raise errors.invalid("body", f"must be exactly one complete {name} stream") from None
    except (zlib.error, zstandard.ZstdError):
        raise errors.invalid(
            "body", f"is not valid {name}, but Content-Encoding is {name}"
        ) from None


def _gunzipped(source: IO[bytes]) -> Iterator[bytes]:
    inflater = zlib.decompressobj(wbits=31)
    data = source.read(_PIECE)
    while data and not inflater.eof:
        yield inflater.decompress(data, _PIECE)
        data = inflater.unconsumed_tail or source.read(_PIECE)
    # What is still inside when all input is read: less than one piece.
    yield b"" if inflater.eof else inflater.flush(_PIECE)
    if not inflater.eof or inflater.unused_data or source.read(1):
        raise EOFError


def _unzstd(source: IO[bytes]) -> Iterator[bytes]:
    # Not a stream reader, which takes the beginning of a stream for all of it.
    inflater = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_BYTES).decompressobj()
    while not inflater.eof and (data := source.read(_ZSTD_PIECE)):
        yield inflater.decompress(data)
    if not inflater.eof or inflater.unused_data or source.read(1):
        raise EOFError


class Upload(NamedTuple):
    path: Path
    size: int


async def receive_file(
    receive: Receive, folder: Path, content_type: bytes, content_encoding: bytes | None
) -> Upload:
    """The received file in `folder`. Raises a refusal if it is too large or incomplete."""
    encoding = encoding_of(content_encoding)
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
    form_files.require_size(size)
    return Upload(sent, size)


def _decompress(source: Path, target: Path, encoding: bytes) -> None:
    with source.open("rb") as packed, form_files.created(target) as unpacked:
        decompress(packed, unpacked, encoding, form_files.MAX_BODY_BYTES)
