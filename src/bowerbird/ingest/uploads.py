"""Receives a file into a private temporary file, never into memory.

The body is the file itself, or a form (multipart/form-data) with one file.
"""

import asyncio
import re
from pathlib import Path
from typing import IO, Final, NamedTuple

from starlette.types import Receive

from bowerbird import errors
from bowerbird.ingest import bodies as ingest_bodies
from bowerbird.requests import limits
from bowerbird.storage import private_files
from bowerbird.wire import bodies

# Room for the boundaries and headers of a form.
FORM_BYTES: Final = 64 * 1024
MAX_BODY_BYTES: Final = limits.INGEST_FILE_BYTES_MAX + FORM_BYTES
_MAX_PART_HEADERS: Final = 16 * 1024
# A form has one file; programs may add a few fields.
_MAX_PARTS: Final = 20
_BUFFER: Final = 256 * 1024
_BOUNDARY: Final = re.compile(rb'boundary=(?:"([^"]{1,70})"|([^\s;",]{1,70}))', re.IGNORECASE)
# A form in which no file was chosen has an empty name.
_IS_FILE: Final = re.compile(
    rb'content-disposition:[^\r\n]*;\s*filename\*?\s*=\s*(?:"[^"\r\n]|[^"\s;])', re.IGNORECASE
)
_NO_FILE: Final = (
    "must have a file in the form, with its name, as curl -F file=@posts.json sends it"
)


class Upload(NamedTuple):
    path: Path
    size: int


async def receive_file(
    receive: Receive, folder: Path, content_type: bytes, content_encoding: bytes | None
) -> Upload:
    """The received file in `folder`. Raises a refusal if it is too large or incomplete."""
    encoding = ingest_bodies.encoding_of(content_encoding)
    boundary = _boundary(content_type)
    sent, file = folder / "sent", folder / "file"
    with _created(sent) as target:
        await _store(receive, target)
    if encoding:
        unpacked = folder / "unpacked"
        await asyncio.to_thread(_decompress, sent, unpacked, encoding)
        sent = unpacked
    if boundary is not None:
        await asyncio.to_thread(_extract, sent, file, boundary)
        sent = file
    size = await asyncio.to_thread(lambda: sent.stat().st_size)
    if size > limits.INGEST_FILE_BYTES_MAX:
        raise bodies.too_large(limits.INGEST_FILE_BYTES_MAX)
    if not size:
        raise errors.invalid("body", "is empty; send a file")
    return Upload(sent, size)


async def _store(receive: Receive, target: IO[bytes]) -> None:
    buffered = bytearray()
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise errors.invalid("body", "is shorter than its Content-Length")
        buffered += message.get("body", b"")
        if size + len(buffered) > MAX_BODY_BYTES:
            raise bodies.too_large(limits.INGEST_FILE_BYTES_MAX)
        is_last = not message.get("more_body", False)
        if len(buffered) >= _BUFFER or is_last:
            size += len(buffered)
            await asyncio.to_thread(target.write, bytes(buffered))
            buffered.clear()
        if is_last:
            return


def _created(path: Path) -> IO[bytes]:
    return open(private_files.open_new(path), "wb")  # noqa: PTH123 - the caller closes it


def _decompress(source: Path, target: Path, encoding: bytes) -> None:
    with source.open("rb") as packed, _created(target) as unpacked:
        ingest_bodies.decompress(packed, unpacked, encoding, MAX_BODY_BYTES)


def _boundary(content_type: bytes) -> bytes | None:
    if not content_type.strip().lower().startswith(b"multipart/"):
        return None
    found = _BOUNDARY.search(content_type)
    if found is None:
        raise errors.invalid("Content-Type", "must name the boundary of the form")
    return b"--" + (found[1] or found[2])


def _extract(form: Path, file: Path, boundary: bytes) -> None:
    """Copies the file of a form, which has exactly one."""
    with form.open("rb") as source, _created(file) as target:
        reader = _FormReader(source, boundary)
        reader.skip_preamble()
        files = parts = 0
        while headers := reader.headers():
            parts += 1
            is_file = _IS_FILE.search(headers) is not None
            files += is_file
            if files > 1:
                raise errors.invalid("body", "has two files in the form; send each by itself")
            if parts > _MAX_PARTS:
                raise errors.invalid("body", f"must have at most {_MAX_PARTS} parts in the form")
            reader.copy_part(target if is_file else None)
    if not files:
        raise errors.invalid("body", _NO_FILE)


class _FormReader:
    """Reads the parts of a form one after the other, in pieces."""

    def __init__(self, source: IO[bytes], boundary: bytes) -> None:
        self._source = source
        self._end = b"\r\n" + boundary
        # As if a line had ended before the first boundary.
        self._data = b"\r\n"
        # What is before it was read. Cutting it off would copy the rest for each part.
        self._at = 0
        self._is_over = False

    def skip_preamble(self) -> None:
        self.copy_part(None)

    def headers(self) -> bytes:
        """The headers of the next part; empty after the last one."""
        while not self._is_over:
            if self._data.startswith(b"--", self._at):
                return b""
            start, end = self._at, self._data.find(b"\r\n\r\n", self._at)
            if end >= 0:
                self._at = end + 4
                return self._data[start : end + 2]
            if len(self._data) - start > _MAX_PART_HEADERS:
                raise errors.invalid("body", "has a part whose headers are too long")
            self._read_more()
        raise _incomplete()

    def copy_part(self, target: IO[bytes] | None) -> None:
        """Reads up to the next boundary."""
        while True:
            found = self._data.find(self._end, self._at)
            # A boundary may begin in these bytes, and end in the next ones.
            end = found if found >= 0 else max(self._at, len(self._data) - len(self._end))
            if target is not None:
                target.write(memoryview(self._data)[self._at : end])
            self._at = end
            if found >= 0:
                self._at += len(self._end)
                return
            if self._is_over:
                raise _incomplete()
            self._read_more()

    def _read_more(self) -> None:
        more = self._source.read(_BUFFER)
        self._is_over = not more
        self._data = self._data[self._at :] + more
        self._at = 0


def _incomplete() -> errors.Refusal:
    return errors.invalid("body", "is a form without its end")
