"""Receives a file into a private temporary file, never into memory, also as part of a form."""

import asyncio
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Final, NamedTuple

from starlette.types import Receive

from bowerbird import errors
from bowerbird.errors import Code, Refusal
from bowerbird.requests import limits
from bowerbird.storage import private_files
from bowerbird.wire import bodies
from bowerbird.wire.multipart import FormReader, is_file, leading_fields, name_of_file

# Room for the boundaries and headers of a form, and for its fields.
FORM_BYTES: Final = 64 * 1024
MAX_BODY_BYTES: Final = limits.INGEST_FILE_BYTES_MAX + FORM_BYTES
# A form has one file; programs may add a few fields.
_MAX_PARTS: Final = 20
_BUFFER: Final = 256 * 1024
_BOUNDARY: Final = re.compile(rb'boundary=(?:"([^"]{1,70})"|([^\s;",]{1,70}))', re.IGNORECASE)
_NO_FILE: Final = (
    "body: must have a file in the form, with its name, as curl -F file=@posts.json sends it."
)


class NoFile(Refusal):
    """The form has no file."""


class TwoFiles(Refusal):
    """The form has more than one file."""


class SentFile(NamedTuple):
    path: Path
    size: int
    # As the sender named it.
    name: str


async def receive_form(
    receive: Receive,
    folder: Path,
    content_type: bytes,
    admit: Callable[[Mapping[str, str]], None],
) -> SentFile:
    """The file of a form, in `folder`.

    `admit` gets the fields before the file and may raise. Nothing is stored before it returns. Of a
    file that is too large, the rest is received and dropped, so that a browser shows the answer.
    """
    boundary = boundary_of(content_type)
    if boundary is None:
        raise NoFile(Code.INVALID_REQUEST, _NO_FILE)
    head, is_whole = await _receive_fields(receive, boundary, admit)
    sent, file = folder / "sent", folder / "file"
    with created(sent) as target:
        await asyncio.to_thread(target.write, head)
        if not is_whole:
            await store(receive, target, len(head), drops_rest=True)
    name = await asyncio.to_thread(extract, sent, file, boundary)
    size = await asyncio.to_thread(lambda: file.stat().st_size)
    if size > limits.INGEST_FILE_BYTES_MAX:
        raise bodies.too_large(limits.INGEST_FILE_BYTES_MAX)
    if not size:
        raise errors.invalid("body", "is empty; send a file")
    return SentFile(file, size, name)


async def _receive_fields(
    receive: Receive, boundary: bytes, admit: Callable[[Mapping[str, str]], None]
) -> tuple[bytes, bool]:
    """Receives the fields before the file; returns what has arrived, and whether that is all."""
    head = bytearray()
    # Looking again only when there is twice as much keeps the work in proportion to the bytes.
    enough = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise errors.invalid("body", "is shorter than its Content-Length")
        head += message.get("body", b"")
        is_whole = not message.get("more_body", False)
        if len(head) < enough and not is_whole:
            continue
        enough = min(2 * len(head), FORM_BYTES)
        fields = leading_fields(bytes(head[:FORM_BYTES]), boundary)
        if fields is not None:
            admit(fields)
            return bytes(head), is_whole
        if len(head) >= FORM_BYTES:
            raise errors.invalid("body", "has fields that are too long")
        if is_whole:
            raise errors.invalid("body", "is a form without its end")


async def store(
    receive: Receive, target: IO[bytes], size: int = 0, *, drops_rest: bool = False
) -> None:
    """Writes the rest of the body, of which `size` bytes are written already."""
    buffered = bytearray()
    is_too_large = False
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise errors.invalid("body", "is shorter than its Content-Length")
        buffered += message.get("body", b"")
        is_too_large = is_too_large or size + len(buffered) > MAX_BODY_BYTES
        if is_too_large and not drops_rest:
            raise bodies.too_large(limits.INGEST_FILE_BYTES_MAX)
        is_last = not message.get("more_body", False)
        if is_too_large:
            buffered.clear()
        elif len(buffered) >= _BUFFER or is_last:
            size += len(buffered)
            await asyncio.to_thread(target.write, bytes(buffered))
            buffered.clear()
        if is_last and is_too_large:
            raise bodies.too_large(limits.INGEST_FILE_BYTES_MAX)
        if is_last:
            return


def created(path: Path) -> IO[bytes]:
    return open(private_files.open_new(path), "wb")  # noqa: PTH123 - the caller closes it


def boundary_of(content_type: bytes) -> bytes | None:
    """The line between the parts of a form; None if the body is not a form."""
    if not content_type.strip().lower().startswith(b"multipart/"):
        return None
    found = _BOUNDARY.search(content_type)
    if found is None:
        raise errors.invalid("Content-Type", "must name the boundary of the form")
    return b"--" + (found[1] or found[2])


def extract(form: Path, file: Path, boundary: bytes) -> str:
    """Copies the file of a form, which has exactly one; returns its name."""
    name = ""
    with form.open("rb") as source, created(file) as target:
        reader = FormReader(source, boundary)
        reader.skip_preamble()
        files = parts = 0
        while headers := reader.headers():
            parts += 1
            has_file = is_file(headers)
            files += has_file
            if files > 1:
                raise TwoFiles(
                    Code.INVALID_REQUEST,
                    "body: has two files in the form; send each by itself.",
                )
            if parts > _MAX_PARTS:
                raise errors.invalid("body", f"must have at most {_MAX_PARTS} parts in the form")
            name = name_of_file(headers) if has_file else name
            reader.copy_part(target if has_file else None)
    if not files:
        raise NoFile(Code.INVALID_REQUEST, _NO_FILE)
    return name
