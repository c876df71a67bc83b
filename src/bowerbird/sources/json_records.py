"""Splits a file into JSON records without reading it whole.

The records stand in an array, one a line, or in the member `bookmarks` or `data` of one object:
an export of an account, or an answer of the API that somebody kept.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple, Protocol

import msgspec

_READ: Final = 1 << 20
LONGEST: Final = 16 << 20
TOO_LONG: Final = f"The record is larger than {LONGEST >> 20} MiB."
_ENDLESS: Final = "The record that begins here does not end."
_BOM: Final = b"\xef\xbb\xbf"
_BLANK: Final = re.compile(rb"[ \t\r\n]*")
_SEPARATOR: Final = re.compile(rb"[ \t\r\n,]*")
# A string, a bracket, or the quote of a string that does not end: all that decides a value's end.
_BRACKET: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}"]', re.DOTALL)
_SCALAR: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[^"\[\]{},\s][^,\[\]{}\s]*+', re.DOTALL)
_MEMBER: Final = re.compile(rb'"([^"\\]*+(?:\\.[^"\\]*+)*+)"[ \t\r\n]*:[ \t\r\n]*', re.DOTALL)
# What decides the end of a value that is passed in pieces. An escape may be cut in two.
_IN_TEXT: Final = re.compile(rb'"|\\.?', re.DOTALL)
_IN_VALUE: Final = re.compile(rb'["\[\]{},]')
# Where one object ends and the next begins: perhaps two records, perhaps parts of one.
_SEAM: Final = re.compile(rb"\}[ \t\r\n]*(?=,[ \t\r\n]*\{)")
_SEAMS_TRIED: Final = 8
_HOLDERS: Final = frozenset({b"bookmarks", b"data"})
_split: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Record(NamedTuple):
    line: int
    raw: bytes
    # Why it cannot be given, or nothing.
    problem: str = ""


class BrokenFile(Exception):  # noqa: N818 - named for what it is
    """The file cannot be read on from here."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line


def records(file: Readable) -> Iterator[Record]:
    window = _Window(file)
    window.more()
    if window.data.startswith(_BOM):
        window.position = len(_BOM)
    window.skip(_BLANK)
    if window.begins_with(b"["):
        return _documents(window, is_held=False)
    if window.begins_with(b"{") and _enter_holder(window):
        return _documents(window, is_held=True)
    return _lines(window)


class _Window:
    """The part of the file that is being looked at; what lies before `position` is done with."""

    def __init__(self, file: Readable) -> None:
        self._file = file
        self.data = b""
        self.position = 0
        self.line = 1
        self.reads = 0

    @property
    def is_full(self) -> bool:
        return len(self.data) - self.position > LONGEST

    def more(self) -> bool:
        """Reads on. False at the end of the file, or when what is wanted is too long."""
        if self.is_full:
            return False
        read = self._file.read(_READ)
        if read:
            self.data = self.data[self.position :] + read
            self.position = 0
            self.reads += 1
        return bool(read)

    def begins_with(self, character: bytes) -> bool:
        return self.data.startswith(character, self.position)

    def pass_to(self, end: int) -> bytes:
        passed = self.data[self.position : end]
        self.line += passed.count(b"\n")
        self.position = end
        return passed

    def skip(self, blank: re.Pattern[bytes]) -> None:
        while True:
            match = blank.match(self.data, self.position)
            assert match
            self.pass_to(match.end())
            if self.position < len(self.data) or not self.more():
                return


def _lines(window: _Window) -> Iterator[Record]:
    while True:
        end = window.data.find(b"\n", window.position)
        if end < 0 and window.more():
            continue
        line = window.line
        raw = window.pass_to(end + 1 or len(window.data))
        if not raw:
            return
        if end < 0:
            _pass_line(window)
        if raw.strip():
            yield _record(line, raw)


def _pass_line(window: _Window) -> None:
    """Passes the rest of a line whose beginning was too long already."""
    while window.more():
        end = window.data.find(b"\n")
        window.pass_to(end + 1 or len(window.data))
        if end >= 0:
            return


def _record(line: int, raw: bytes) -> Record:
    return Record(line, raw) if len(raw) <= LONGEST else Record(line, b"", TOO_LONG)


def _documents(window: _Window, *, is_held: bool) -> Iterator[Record]:
    """Array after array: people put the pages of an API, or several exports, into one file."""
    while True:
        window.position += 1
        yield from _array(window)
        window.position += 1
        if is_held:
            _pass_value(window, depth=1)
        window.skip(_BLANK)
        if window.position == len(window.data):
            return
        is_held = window.begins_with(b"{")
        if not (window.begins_with(b"[") or (is_held and _enter_holder(window))):
            raise BrokenFile(window.line, "What follows here is no list of bookmarks.")


def _array(window: _Window) -> Iterator[Record]:
    slow_read = 0
    while True:
        window.skip(_SEPARATOR)
        if window.begins_with(b"]"):
            return
        if window.position == len(window.data):
            raise BrokenFile(window.line, "The file ends before its array does.")
        if slow_read != window.reads and (whole := _whole_records(window)):
            yield from whole
            continue
        slow_read = window.reads
        yield _element(window)


def _whole_records(window: _Window) -> list[Record]:
    """The records that lie whole in the window, found by the parser: 20 times faster than by us.

    Empty when there are none or one of them is not JSON: those are then cut out one by one.
    """
    seams = [match.end() for match in _SEAM.finditer(window.data, window.position)]
    for end in reversed(seams[-_SEAMS_TRIED:]):
        try:
            raws = _split(b"[%b]" % window.data[window.position : end])
        except (msgspec.DecodeError, RecursionError):
            continue
        return [_next(window, bytes(raw)) for raw in raws]
    return []


def _next(window: _Window, raw: bytes) -> Record:
    window.skip(_SEPARATOR)
    line = window.line
    window.pass_to(window.position + len(raw))
    return _record(line, raw)


def _element(window: _Window) -> Record:
    line = window.line
    end = _end_of_value(window)
    if end is None:
        _pass_value(window)
        return Record(line, b"", TOO_LONG)
    return _record(line, window.pass_to(end))


def _end_of_value(window: _Window) -> int | None:
    """Where the value ends that begins here, found by its brackets even if it is not JSON.

    None when it is too long to be held.
    """
    while True:
        end = _balanced(window.data, window.position)
        # A number or a word may go on in what is not read yet.
        if end is not None and end < len(window.data):
            return end
        if window.more():
            continue
        if window.is_full:
            return None
        if end is None:
            raise BrokenFile(window.line, _ENDLESS)
        return end


def _pass_value(window: _Window, depth: int = 0) -> None:
    """Passes a value that need not be held, or what is left of it, a piece at a time."""
    line, is_text = window.line, False
    while True:
        end, depth, is_text = _progress(window.data, window.position, depth, is_text=is_text)
        window.pass_to(end)
        if end < len(window.data) and not (is_text or depth):
            return
        if not window.more():
            if is_text or depth:
                raise BrokenFile(line, _ENDLESS)
            return


def _progress(data: bytes, start: int, depth: int, *, is_text: bool) -> tuple[int, int, bool]:
    """How far a value goes in this piece, and how deep inside it and whether in a text that is."""
    while match := (_IN_TEXT if is_text else _IN_VALUE).search(data, start):
        token = match[0]
        if token == b"\\" or (not depth and token in b",]}"):
            return match.start(), depth, is_text
        start = match.end()
        if token == b'"':
            is_text = not is_text
        elif not is_text and token != b",":
            depth += 1 if token in b"[{" else -1
        if not (depth or is_text):
            return start, depth, is_text
    return len(data), depth, is_text


def _balanced(data: bytes, start: int) -> int | None:
    if data[start] not in b"[{":
        scalar = _SCALAR.match(data, start)
        if scalar is None:
            return None if data.startswith(b'"', start) else start + 1
        return scalar.end()
    depth = 0
    for match in _BRACKET.finditer(data, start):
        if match[0] == b'"':
            return None
        if match[0] in b"[{":
            depth += 1
        elif match[0] in b"]}":
            depth -= 1
            if depth == 0:
                return match.end()
    return None


def _enter_holder(window: _Window) -> bool:
    """Moves to the array inside an object that holds one; stays where a record begins."""
    found = _holder(window.data, window.position + 1)
    while found is None and window.more():
        found = _holder(window.data, window.position + 1)
    if found:
        window.pass_to(found)
    return bool(found)


def _holder(data: bytes, position: int) -> int | None:
    """Where the array of records begins; 0 when the object has none, None when more is needed."""
    while True:
        blank = _SEPARATOR.match(data, position)
        assert blank
        member = _MEMBER.match(data, blank.end())
        if member is None:
            return 0 if data[blank.end() : blank.end() + 1] not in (b"", b'"') else None
        value = member.end()
        if member[1] in _HOLDERS and data.startswith(b"[", value):
            return value
        end = _balanced(data, value) if value < len(data) else None
        if end is None or end == len(data):
            return None
        position = end
