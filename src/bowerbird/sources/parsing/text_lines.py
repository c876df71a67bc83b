"""Reads the lines of a text file whose character set is not known.

UTF-8 and, after a byte order mark, UTF-16 are read as such. Bytes that are not UTF-8 are read as
Windows-1252, which spreadsheets still write. Memory is bounded by the longest line.
"""

import codecs
import io
import re
from collections.abc import Iterator
from typing import Final, NamedTuple, Protocol

from bowerbird.sources.parsing.json_records import MAX_RECORD_BYTES, Readable

MAX_LINE_CHARACTERS: Final = 512 << 10
_READ_BYTES: Final = 64 << 10
_UNDECODABLE: Final = re.compile("[\udc80-\udcff]")
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
# Python keeps a byte that it cannot decode as one of these characters.
_WINDOWS_1252: Final = {
    0xDC00 + byte: bytes([byte]).decode("cp1252", "replace") for byte in range(0x80, 0x100)
}


class SeekableFile(Protocol):
    """A file that can be read more than once. Readers begin with seek(0)."""

    def read(self, size: int, /) -> bytes: ...
    def seek(self, offset: int, whence: int = 0, /) -> int: ...


class Line(NamedTuple):
    number: int
    # With its line break, so that a cell of a table keeps it.
    text: str
    # The line was longer than the maximum, and only its beginning is here.
    is_cut: bool = False


def storable(text: str) -> str:
    """The text without the characters that no database can store."""
    return _UNSTORABLE.sub("", text) if _UNSTORABLE.search(text) else text


def encoding_of(beginning: bytes) -> str:
    if beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return "utf-8-sig"


def _errors(encoding: str) -> str:
    """What to do with bytes that are not text: UTF-16 has no way to keep them."""
    return "surrogateescape" if encoding == "utf-8-sig" else "replace"


def decode(beginning: bytes) -> str:
    """The text at the beginning of a file. The last character may be incomplete."""
    encoding = encoding_of(beginning)
    decoder = codecs.getincrementaldecoder(encoding)(_errors(encoding))
    return storable(decoder.decode(beginning).translate(_WINDOWS_1252))


class TextLines:
    """The lines of a file, one by one. The caller may ask for one again."""

    def __init__(self, file: SeekableFile) -> None:
        file.seek(0)
        encoding = encoding_of(file.read(4))
        file.seek(0)
        self._text = io.TextIOWrapper(
            io.BufferedReader(_Raw(file), _READ_BYTES),
            encoding,
            errors=_errors(encoding),
            newline="",
        )
        self._number = 0
        # The first line with bytes that are not UTF-8, or 0.
        self.first_windows_line = 0

    def next(self) -> Line | None:
        """The next line, or its beginning if it is too long."""
        text = self._text.readline(MAX_LINE_CHARACTERS)
        if not text:
            return None
        self._number += 1
        is_cut = _is_cut(text)
        rest = text
        while rest and _is_cut(rest):
            rest = self._text.readline(MAX_LINE_CHARACTERS)
        return Line(self._number, self._cleaned(text), is_cut)

    def blocks(self) -> Iterator[str]:
        """The whole text in parts of any length, for a format that is not made of lines."""
        while text := self._text.read(_READ_BYTES):
            yield self._cleaned(text)
            self._number += text.count("\n")

    def _cleaned(self, text: str) -> str:
        if _UNDECODABLE.search(text):
            self.first_windows_line = self.first_windows_line or max(self._number, 1)
            text = text.translate(_WINDOWS_1252)
        return storable(text)


def _is_cut(text: str) -> bool:
    return len(text) >= MAX_LINE_CHARACTERS and text[-1] not in "\r\n"


class Utf8File:
    """A JSON file as UTF-8 bytes, whatever Unicode encoding it is in."""

    def __init__(self, file: SeekableFile) -> None:
        self._file = file
        file.seek(0)
        is_utf16 = encoding_of(file.read(4)) == "utf-16"
        self._decoder = codecs.getincrementaldecoder("utf-16")("replace") if is_utf16 else None
        file.seek(0)

    def read(self, size: int) -> bytes:
        if self._decoder is None:
            return self._file.read(size)
        while data := self._file.read(size):
            # An incomplete character at the end of the data is kept for the next time.
            if text := self._decoder.decode(data):
                return text.encode("utf-8", "replace")
        return b""


def byte_lines(file: SeekableFile) -> Iterator[bytes]:
    """The lines of a file as UTF-8. Only the beginning of one that is too long for a record."""
    lines = io.BufferedReader(_Raw(Utf8File(file)), _READ_BYTES)
    while line := lines.readline(MAX_RECORD_BYTES):
        rest = line
        while len(rest) == MAX_RECORD_BYTES and not rest.endswith(b"\n"):
            rest = lines.readline(MAX_RECORD_BYTES)
        yield line


class _Raw(io.RawIOBase):
    """Gives Python's text reader a file that has only read()."""

    def __init__(self, file: Readable) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)
