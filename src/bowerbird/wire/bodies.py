"""Reads the body of a request: limits its size and inflates it."""

import zlib
from typing import Final

from starlette.types import Receive

from bowerbird import errors
from bowerbird.errors import Code, Refusal

_MIB: Final = 1024 * 1024
MAX_BYTES: Final = _MIB


async def read(receive: Receive, content_encoding: bytes) -> bytes:
    """The whole body. Bytes are counted after inflating."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            # The client disconnected, so the body is incomplete and must not take effect.
            raise errors.invalid("body", "is shorter than its Content-Length")
        part = message.get("body", b"")
        size += len(part)
        if size > MAX_BYTES:
            raise too_large()
        parts.append(part)
        if not message.get("more_body", False):
            break
    return _inflated(b"".join(parts), content_encoding.strip().lower())


def _inflated(body: bytes, encoding: bytes) -> bytes:
    if encoding in (b"", b"identity"):
        return body
    if encoding != b"gzip":
        raise errors.invalid("Content-Encoding", "must be gzip or absent")
    inflater = zlib.decompressobj(wbits=31)
    try:
        inflated = inflater.decompress(body, MAX_BYTES + 1)
    except zlib.error:
        raise errors.invalid("body", "is not valid gzip, but Content-Encoding is gzip") from None
    if len(inflated) > MAX_BYTES:
        raise too_large()
    if not inflater.eof or inflater.unused_data:
        raise errors.invalid("body", "must be exactly one complete gzip stream")
    return inflated


def too_large(most: int = MAX_BYTES) -> Refusal:
    size = f"{most // _MIB} MiB" if most % _MIB == 0 else f"{most // 1_000_000} MB"
    return Refusal(Code.PAYLOAD_TOO_LARGE, f"The body is larger than {size}.")
