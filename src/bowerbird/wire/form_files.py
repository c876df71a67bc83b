"""Receives a file into a private temporary file, never into memory, also as part of a form."""

import asyncio
import logging
import re
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import IO, Final, NamedTuple

from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header
from starlette.types import Receive

from bowerbird import errors
from bowerbird.errors import Code, Refusal
from bowerbird.requests import limits
from bowerbird.storage import private_files
from bowerbird.wire import bodies

# The fields before the file, and room for the boundaries and headers of a form.
FORM_BYTES: Final = 64 * 1024
MAX_BODY_BYTES: Final = limits.INGEST_FILE_BYTES_MAX + FORM_BYTES
# A form has one file; programs may add a few fields.
_MAX_PARTS: Final = 20
# The parser takes 2 µs for each boundary inside a file. By chance there is none.
_MAX_BOUNDARIES: Final = 100
_MAX_HEADER: Final = 16 * 1024
_BUFFER: Final = 256 * 1024
_BOUNDARY: Final = re.compile(rb'boundary=(?:"([^"]{1,70})"|([^\s;",]{1,70}))', re.IGNORECASE)
_NO_FILE: Final = (
    "body: must have a file in the form, with its name, as curl -F file=@posts.json sends it."
)
# What browsers write for the characters that cannot stand in a quoted name.
_ESCAPES: Final = {"%22": '"', "%0D": "", "%0A": ""}
_MAX_FILE_NAME: Final = 100

Admit = Callable[[Mapping[str, str]], None]

# The parser would write a line to stderr for every form that it refuses.
logging.getLogger("python_multipart").addHandler(logging.NullHandler())


class NoFile(Refusal):
    """The form has no file."""


class TwoFiles(Refusal):
    """The form has more than one file."""


class SentFile(NamedTuple):
    path: Path
    size: int
    # As the sender named it.
    name: str


class FormReader:
    """Reads a form in pieces. Its one file goes to `path`, which is created when the file begins.

    `admit` gets the fields before the file, and may raise.
    """

    def __init__(self, boundary: bytes, path: Path, admit: Admit | None = None) -> None:
        self.file: IO[bytes] | None = None
        self._path = path
        self._admit = admit
        self._name = ""
        self._size = self._parts = self._boundaries = 0
        self._fields: dict[str, str] = {}
        self._header, self._content = bytearray(), bytearray()
        self._options: dict[bytes, bytes] = {}
        self._has_other_name = False
        self._has_begun = self._is_in_file = self._has_ended = False
        self._refusal: Refusal | None = None
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin_part,
                "on_header_field": lambda data, start, end: self._header.extend(data[start:end]),
                "on_header_value": lambda data, start, end: self._content.extend(data[start:end]),
                "on_header_end": self._end_header,
                "on_headers_finished": self._begin_content,
                "on_part_data": self._add_content,
                "on_part_end": self._end_part,
                "on_end": self._end,
            },
            max_header_size=_MAX_HEADER,
        )

    def write(self, data: bytes) -> None:
        """A refusal after the file has begun waits for `finish`, so that a browser shows it."""
        if self._refusal is not None:
            return
        if not self._has_begun:
            # The parser would skip these signs one by one.
            data = data.lstrip(b"\r\n")
            self._has_begun = bool(data)
        self._boundaries += data.count(self._parser.boundary)
        try:
            if self._boundaries > _MAX_BOUNDARIES:
                raise _too_many_parts()
            self._parser.write(data)
        except FormParserError:
            self._refusal = errors.invalid("body", "is not a form that can be read")
        except Refusal as refusal:
            self._refusal = refusal
        if self._refusal is not None and self.file is None:
            raise self._refusal

    def finish(self) -> SentFile:
        if self._refusal is not None:
            raise self._refusal
        if not self._has_ended:
            raise errors.invalid("body", "is a form without its end")
        if self.file is None:
            if self._admit is not None:
                self._admit(self._fields)
            raise NoFile(Code.INVALID_REQUEST, _NO_FILE)
        require_size(self._size)
        return SentFile(self._path, self._size, self._name)

    def close(self) -> None:
        if self.file is not None:
            self.file.close()

    def _begin_part(self) -> None:
        self._parts += 1
        self._options, self._has_other_name = {}, False
        if self._parts > _MAX_PARTS:
            raise _too_many_parts()

    def _end_header(self) -> None:
        if self._header.lower() == b"content-disposition":
            self._options = parse_options_header(bytes(self._content))[1]
            self._has_other_name = b"filename*=" in self._content.lower()
        self._header.clear()
        self._content.clear()

    def _begin_content(self) -> None:
        name = self._options.get(b"filename", b"")
        # A form in which no file was chosen has an empty name.
        if not (name or self._has_other_name):
            return
        if self.file is not None:
            raise TwoFiles(
                Code.INVALID_REQUEST, "body: has two files in the form; send each by itself."
            )
        if self._admit is not None:
            self._admit(self._fields)
        self._name = _shown(name)
        self.file, self._is_in_file = created(self._path), True

    def _add_content(self, data: bytes, start: int, end: int) -> None:
        if self._is_in_file and self.file is not None:
            self._size += end - start
            if self._size <= limits.INGEST_FILE_BYTES_MAX:
                self.file.write(memoryview(data)[start:end])
        elif self._admit is not None and self.file is None:
            self._content += data[start:end]

    def _end_part(self) -> None:
        if self._admit is not None and self.file is None:
            try:
                name, text = self._options.get(b"name", b"").decode(), self._content.decode()
            except UnicodeDecodeError:
                raise errors.invalid("form", "is not readable") from None
            if name in self._fields:
                raise errors.invalid("form", "contains a field twice")
            self._fields[name] = text
        self._content.clear()
        self._is_in_file = False

    def _end(self) -> None:
        self._has_ended = True


async def receive_form(
    receive: Receive, folder: Path, content_type: bytes, admit: Admit
) -> SentFile:
    """The file of a form, in `folder`.

    `admit` gets the fields before the file and may raise. Nothing is stored before it returns. Of a
    file that is too large, the rest is received and dropped, so that a browser shows the answer.
    """
    boundary = boundary_of(content_type)
    if boundary is None:
        raise NoFile(Code.INVALID_REQUEST, _NO_FILE)
    with closing(FormReader(boundary, folder / "file", admit)) as reader:
        buffered = bytearray()
        room, is_last = FORM_BYTES, False
        while not is_last:
            piece, is_last = await _received(receive)
            if reader.file is None:
                reader.write(piece[:room])
                piece, room = piece[room:], max(room - len(piece), 0)
                if reader.file is None and not room:
                    raise errors.invalid("body", "has fields that are too long")
            buffered += piece
            if len(buffered) >= _BUFFER or is_last:
                await asyncio.to_thread(reader.write, bytes(buffered))
                buffered.clear()
        return reader.finish()


async def store(receive: Receive, target: IO[bytes]) -> None:
    """Writes a whole body."""
    buffered = bytearray()
    size = 0
    is_last = False
    while not is_last:
        piece, is_last = await _received(receive)
        buffered += piece
        if size + len(buffered) > MAX_BODY_BYTES:
            raise bodies.too_large(limits.INGEST_FILE_BYTES_MAX)
        if len(buffered) >= _BUFFER or is_last:
            size += len(buffered)
            await asyncio.to_thread(target.write, bytes(buffered))
            buffered.clear()


async def _received(receive: Receive) -> tuple[bytes, bool]:
    """The next piece of a body, and whether it is the last one."""
    message = await receive()
    if message["type"] == "http.disconnect":
        raise errors.invalid("body", "is shorter than its Content-Length")
    return message.get("body", b""), not message.get("more_body", False)


def created(path: Path) -> IO[bytes]:
    return open(private_files.open_new(path), "wb")  # noqa: PTH123 - the caller closes it


def boundary_of(content_type: bytes) -> bytes | None:
    """What separates the parts of a form; None if the body is not a form."""
    if not content_type.strip().lower().startswith(b"multipart/"):
        return None
    found = _BOUNDARY.search(content_type)
    if found is None:
        raise errors.invalid("Content-Type", "must name the boundary of the form")
    return found[1] or found[2]


def extract(form: Path, file: Path, boundary: bytes) -> None:
    """Copies the file of a form, which has exactly one."""
    with form.open("rb") as source, closing(FormReader(boundary, file)) as reader:
        while data := source.read(_BUFFER):
            reader.write(data)
        reader.finish()


def require_size(size: int) -> None:
    if size > limits.INGEST_FILE_BYTES_MAX:
        raise bodies.too_large(limits.INGEST_FILE_BYTES_MAX)
    if not size:
        raise errors.invalid("body", "is empty; send a file")


def _too_many_parts() -> Refusal:
    return errors.invalid("body", f"must have at most {_MAX_PARTS} parts in the form")


def _shown(name: bytes) -> str:
    """A name only to be shown: without folders and invisible characters. May be empty."""
    text = name.decode("utf-8", "replace")
    for written, meant in _ESCAPES.items():
        text = text.replace(written, meant)
    text = re.split(r"[/\\]", text)[-1]
    text = "".join(filter(str.isprintable, text)).strip()
    return text if len(text) <= _MAX_FILE_NAME else f"{text[: _MAX_FILE_NAME - 1]}…"
