"""Reads a request's body: bounded, inflated, decoded, with each mistake named."""

import zlib
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from starlette.types import Receive

from bowerbird import errors
from bowerbird.errors import Code, Refusal

MOST_BYTES: Final = 1024 * 1024
_DEEPEST: Final = 64
_decode: Final = msgspec.json.Decoder().decode


async def read(receive: Receive, content_encoding: bytes) -> bytes:
    """The whole body. Bytes are counted after inflating."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            # Refused before anything is claimed or done: what came is not what was meant.
            raise errors.invalid("body", "ended before its announced length")
        part = message.get("body", b"")
        size += len(part)
        if size > MOST_BYTES:
            raise _too_large()
        parts.append(part)
        if not message.get("more_body", False):
            break
    return _inflated(b"".join(parts), content_encoding.strip().lower())


def as_json(body: bytes) -> Any:
    if not body.strip():
        return {}
    value = decoded(body)
    # The escape is the only way to write the character, so few bodies are looked through.
    if b"\\u0000" in body:
        for path in _paths_of_null(value, ""):
            raise errors.invalid(path[:80] or "body", "holds U+0000, which no database can keep")
    return value


def decoded(body: bytes) -> Any:
    """The value that a body is the JSON of, whatever its texts hold."""
    try:
        value = _decode(body)
    except (msgspec.DecodeError, ValueError) as error:
        raise errors.invalid("body", f"is not JSON ({error})") from None
    except RecursionError:
        raise errors.invalid("body", f"is nested more than {_DEEPEST} deep") from None
    if _depth_exceeds(value, _DEEPEST):
        raise errors.invalid("body", f"is nested more than {_DEEPEST} deep")
    return value


def _inflated(body: bytes, encoding: bytes) -> bytes:
    if encoding in (b"", b"identity"):
        return body
    if encoding != b"gzip":
        raise errors.invalid("Content-Encoding", "must be gzip or absent")
    inflater = zlib.decompressobj(wbits=31)
    try:
        inflated = inflater.decompress(body, MOST_BYTES + 1)
    except zlib.error:
        raise errors.invalid("body", "is not gzip, though Content-Encoding says so") from None
    if len(inflated) > MOST_BYTES:
        raise _too_large()
    if not inflater.eof or inflater.unused_data:
        raise errors.invalid("body", "is not one whole gzip stream")
    return inflated


def _depth_exceeds(value: Any, most: int) -> bool:
    level = [value]
    for _ in range(most):
        level = [
            child for item in level for child in _children(item) if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def _children(item: Any) -> list[Any]:
    if isinstance(item, dict):
        return list(item.values())
    return item if isinstance(item, list) else []


def _paths_of_null(value: Any, path: str) -> Iterator[str]:
    """Where U+0000 stands; for the name of a field, the object that has it."""
    if isinstance(value, str):
        if "\x00" in value:
            yield path
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from _paths_of_null(item, f"{path}[{position}]")
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _paths_of_null(name, path)
            yield from _paths_of_null(item, f"{path}.{name}" if path else name)


def _too_large() -> Refusal:
    return Refusal(Code.PAYLOAD_TOO_LARGE, f"The body is larger than {MOST_BYTES // 1024} KiB.")
