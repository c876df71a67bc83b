"""Reads the lines of a text file whose character set is not known, and the rows of a CSV file.

UTF-8 and, after a byte order mark, UTF-16 are read as such. Bytes that are not UTF-8 are read as
Windows-1252, which spreadsheets still write. Memory is bounded by the longest line.

A row that cannot be read is reported, and reading continues with the line after the one where the
row starts: a quotation mark without its partner must not swallow the rest of the file.
"""

import codecs
import csv
import io
import re
from collections import deque
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


_DELIMITERS: Final = ",;\t"
# People also write it inside of names, so it counts only in a line without the others.
_BAR: Final = "|"
# Excel begins a file with the delimiter of its rows: "sep=;".
_STATED: Final = re.compile(r'"?sep=([,;\t|])"?[ ,;\t|]*(?=[\r\n])', re.IGNORECASE)
MAX_ROW_CHARACTERS: Final = 1 << 20
_MAX_ROW_LINES: Final = 10_000
# Reading on after a broken row reads lines again. This bounds how much in all.
_MAX_REREAD_CHARACTERS: Final = 32 << 20
_NOT_CLOSED: Final = "A quotation mark in this row is not closed."


class Row(NamedTuple):
    line: int
    cells: list[str]
    # Why the row cannot be read, or "".
    problem: str = ""


class _RowTooLongError(Exception):
    pass


def sniff_delimiter(text: str) -> str:
    """The stated delimiter, or the one that occurs most in the first line, outside quotes."""
    if stated := _STATED.match(text):
        return stated[1]
    first_line = _first_line(text)
    outside = "".join(first_line.split('"')[::2])
    most = max(_DELIMITERS, key=outside.count)
    return most if most in outside or _BAR not in outside else _BAR


def split_line(text: str, delimiter: str) -> list[str]:
    """The cells of the first row of a text, or none if it cannot be read."""
    try:
        return next(csv.reader([_first_line(text)], delimiter=delimiter), [])
    except csv.Error:
        return []


def _first_line(text: str) -> str:
    stated = _STATED.match(text)
    return text[stated.end() if stated else 0 :].lstrip("\r\n").partition("\n")[0]


class CsvRows:
    """The rows of a file, the header among them. Empty lines are skipped."""

    def __init__(self, file: SeekableFile, delimiter: str) -> None:
        self._lines = TextLines(file)
        self._delimiter = delimiter
        self._waiting: deque[Line] = deque()
        self._row: list[Line] = []
        self._characters = 0
        self._reread = 0
        self._asked_past_end = False
        # The number of columns of the header, which is the first row.
        self._columns = 0

    @property
    def first_windows_line(self) -> int:
        return self._lines.first_windows_line

    def __iter__(self) -> Iterator[Row]:
        while row := self._next():
            if row.problem or any(map(str.strip, row.cells)):
                yield row

    def _next(self) -> Row | None:
        self._row, self._characters, self._asked_past_end = [], 0, False
        # One reader per row: after an error, its state is not defined.
        reader = csv.reader(self._row_lines(), delimiter=self._delimiter, strict=True)
        try:
            cells = next(reader)
        except StopIteration:
            return None
        except _RowTooLongError:
            return self._broken(f"The row is longer than {MAX_ROW_CHARACTERS >> 20} MiB.")
        except csv.Error:
            return self._checked(self._leniently())
        return self._checked(cells)

    def _leniently(self) -> list[str]:
        """The cells of a row of one line, with quotation marks in the middle of a cell.

        Not of several lines: there, the mark in the middle shows that a row before it is broken.
        """
        if len(self._row) > 1 or self._asked_past_end:
            return []
        return split_line(self._row[0].text, self._delimiter)

    def _checked(self, cells: list[str]) -> Row:
        """The row, if nothing speaks against it. No cells: its quotation marks are wrong."""
        while len(cells) > self._columns > 0 and not cells[-1]:
            cells.pop()
        if problem := self._problem(cells):
            return self._broken(problem)
        self._columns = self._columns or len(cells)
        return Row(self._row[0].number, cells + [""] * (self._columns - len(cells)))

    def _problem(self, cells: list[str]) -> str:
        last = self._row[-1].text
        columns = self._columns or len(cells)
        if any(line.is_cut for line in self._row):
            return "The line is too long."
        if not cells and self._characters > csv.field_size_limit():
            return f"A cell has more than {csv.field_size_limit():,} characters."
        # With more lines than one, the mark that ends a cell may belong to another row.
        is_mixed_up = len(self._row) > 1 and len(cells) != columns
        if self._asked_past_end or is_mixed_up or (not cells and last.strip()):
            return _NOT_CLOSED
        if len(cells) > columns:
            return f"The row has {len(cells)} cells, but the header has {columns}."
        if len(cells) < columns and last[-1:] not in "\r\n":
            return "The file ends in the middle of this row."
        return ""

    def _row_lines(self) -> Iterator[str]:
        while line := self._waiting.popleft() if self._waiting else self._lines.next():
            # A file may consist of empty lines, and a row for each would take ten times as long.
            if not self._row and not line.text.strip("\r\n"):
                continue
            if line.number == 1 and not self._row and _STATED.match(line.text):
                continue
            self._row.append(line)
            self._characters += len(line.text)
            if self._characters > MAX_ROW_CHARACTERS or len(self._row) > _MAX_ROW_LINES:
                raise _RowTooLongError
            yield line.text
        self._asked_past_end = bool(self._row)

    def _broken(self, problem: str) -> Row:
        """Reports the row, and continues with its second line."""
        first = self._row[0].number
        if len(self._row) > 1:
            self._reread += self._characters
            if self._reread <= _MAX_REREAD_CHARACTERS:
                self._waiting.extendleft(reversed(self._row[1:]))
            else:
                problem += f" Lines {first} to {self._row[-1].number} are skipped."
        return Row(first, [], problem)
