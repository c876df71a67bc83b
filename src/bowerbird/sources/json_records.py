"""Splits a file into JSON records without reading it whole: an array, or one object a line."""

import json
import re
from collections.abc import Iterator
from typing import IO, Final, NamedTuple

_CHUNK: Final = 1 << 20
_LONGEST: Final = 16 << 20
_SEPARATOR: Final = re.compile(r"[ \t\r\n]*,?[ \t\r\n]*")


class Record(NamedTuple):
    line: int
    raw: bytes


class BrokenFile(Exception):  # noqa: N818 - named for what it is
    """The file cannot be read on from here."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}")


def records(file: IO[bytes]) -> Iterator[Record]:
    first = file.read(1)
    while first and first in b" \t\r\n\xef\xbb\xbf":
        first = file.read(1)
    return _array(file) if first == b"[" else _lines(file, first)


def _lines(file: IO[bytes], first: bytes) -> Iterator[Record]:
    for number, line in enumerate(_bounded_lines(file, first), start=1):
        if line.strip():
            yield Record(number, line)


def _bounded_lines(file: IO[bytes], first: bytes) -> Iterator[bytes]:
    line = first + file.readline(_LONGEST)
    while line:
        yield line
        line = file.readline(_LONGEST)


def _array(file: IO[bytes]) -> Iterator[Record]:
    """Lets the C scanner of the standard library find where each element ends."""
    window = _Window(file)
    while not window.at_end_of_array():
        yield window.element()


class _Window:
    """The part of the file that is being scanned, as text."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._text = ""
        self._rest = b""
        self._position = 0
        self._line = 1
        self._scan = json.JSONDecoder().raw_decode

    def at_end_of_array(self) -> bool:
        self._skip(_SEPARATOR)
        if self._position >= len(self._text):
            raise BrokenFile(self._line, "the file ends before its array does.")
        return self._text[self._position] == "]"

    def element(self) -> Record:
        line, start = self._line, self._position
        while True:
            try:
                _, end = self._scan(self._text, start)
            except (json.JSONDecodeError, RecursionError) as error:
                if isinstance(error, RecursionError) or not self._more(start):
                    raise BrokenFile(line, f"this is not JSON ({error}).") from None
                start = self._position
                continue
            if end < len(self._text) or not self._more(start):
                break
            start = self._position
        raw = self._text[start:end]
        self._line += raw.count("\n")
        self._position = end
        return Record(line, raw.encode("utf-8", "surrogatepass"))

    def _skip(self, blank: re.Pattern[str]) -> None:
        while True:
            match = blank.match(self._text, self._position)
            assert match
            self._line += match[0].count("\n")
            self._position = match.end()
            if self._position < len(self._text) or not self._more(self._position):
                return

    def _more(self, keep_from: int) -> bool:
        """Reads on; what was scanned is dropped. False at the end of the file, or of patience."""
        if len(self._text) - keep_from > _LONGEST:
            return False
        data = self._file.read(_CHUNK)
        if not data:
            return False
        text, self._rest = _whole_characters(self._rest + data, self._line)
        self._text = self._text[keep_from:] + text
        self._position = 0
        return True


def _whole_characters(data: bytes, line: int) -> tuple[str, bytes]:
    """Decodes all but a character whose bytes have not all come yet."""
    for cut in range(min(4, len(data))):
        try:
            return data[: len(data) - cut].decode(), data[len(data) - cut :]
        except UnicodeDecodeError as error:
            if error.reason != "unexpected end of data" and error.start < len(data) - 4:
                break
    raise BrokenFile(line, "the file is not UTF-8 text.")
