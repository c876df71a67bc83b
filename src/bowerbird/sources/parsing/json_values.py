"""Decodes JSON of foreign shape, and finds values and parts in it that may not be there."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import msgspec

from bowerbird.sources.parsing.json_records import (
    MEMBER,
    SEPARATOR,
    MalformedFile,
    Readable,
    Record,
    Window,
    element,
    records,
    skip_value,
)
from bowerbird.sources.parsing.text_lines import storable

# Escapes that may be characters no database can store: U+0000 and half a surrogate pair.
SUSPICIOUS_ESCAPE: Final = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
_MAX_INTEGER: Final = 2**63 - 1


class Unreadable(Exception):  # noqa: N818 - named for what it is
    """A record that is not JSON. The message is a sentence."""


def decode(raw: bytes) -> Any:
    """The value of a record, without characters that no database can store."""
    try:
        if SUSPICIOUS_ESCAPE.search(raw):
            return cleaned(json.loads(raw, parse_constant=reject_constant))
        return msgspec.json.decode(raw)
    except RecursionError:
        raise Unreadable("The record is nested too deeply.") from None
    except UnicodeDecodeError:
        raise Unreadable("The record is not UTF-8 text.") from None
    except (msgspec.MsgspecError, ValueError):
        raise Unreadable("The record is not valid JSON.") from None


def value_of(record: Record, decode: Callable[[bytes], Any] = decode) -> Any:
    """The value of a record. That of a broken one is its Unreadable."""
    try:
        return Unreadable(record.problem) if record.problem else decode(record.raw)
    except Unreadable as problem:
        return problem


def at(value: Any, *path: str) -> Any:
    """The value at a path of keys, or None."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def text_at(value: Any, *path: str) -> str:
    """The text at a path of keys, or "". A whole number counts as text."""
    found = at(value, *path)
    if isinstance(found, str):
        return found
    is_number = isinstance(found, int) and not isinstance(found, bool)
    return str(found) if is_number and abs(found) <= _MAX_INTEGER else ""


def count_at(value: Any, *path: str) -> int:
    """The count at a path of keys, or 0."""
    found = at(value, *path)
    is_number = isinstance(found, int) and not isinstance(found, bool)
    return found if is_number and 0 <= found <= _MAX_INTEGER else 0


def list_at(value: Any, *path: str) -> list[Any]:
    found = at(value, *path)
    return found if isinstance(found, list) else []


def cleaned(value: Any, clean: Callable[[str], str] = storable) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [cleaned(item, clean) for item in value]
    if isinstance(value, dict):
        return {clean(key): cleaned(item, clean) for key, item in value.items()}
    return value


def reject_constant(name: str) -> Any:
    raise ValueError(f"JSON is malformed: {name} is not allowed")


# The bracket of an array around the documents says nothing.
_BETWEEN: Final = re.compile(rb"[ \t\r\n,\[\]]*")


def documents(file: Readable) -> Iterator[Record]:
    """Each document with its first line. A broken end of the file is a record with a problem."""
    window = Window(file)
    try:
        while True:
            window.skip(_BETWEEN)
            if window.position == len(window.data):
                return
            yield element(window)
    except MalformedFile as problem:
        yield Record(problem.line, b"", str(problem))


PART: Final = "part"
# As a shape: every list in the file, however deep in objects, has its items as parts.
LISTS: Final = "lists"
# As a key of a shape: every other key.
ANY: Final = "*"
_MAX_LIST_DEPTH: Final = 8
_NOT_COMPLETE: Final = "The file ends too early."
# A key is never longer than this. Without a bound, a file could be one key.
_MAX_KEY_BYTES: Final = 64 << 10


class Part(NamedTuple):
    # The keys and the numbers of list items that lead to it.
    path: tuple[str | int, ...]
    line: int
    # An Unreadable if the part is broken.
    value: Any

    @property
    def place(self) -> int:
        """Which record of its list it is, counted from 1; 0 if it is in none."""
        number = self.path[-1] if self.path else ""
        return number + 1 if isinstance(number, int) else 0


def read_value(part: Part) -> Any:
    if isinstance(part.value, Unreadable):
        raise part.value
    return part.value


def read_records(file: Readable, decode: Callable[[bytes], Any] = decode) -> Iterator[Part]:
    try:
        for number, record in enumerate(records(file)):
            yield Part((number,), record.line, value_of(record, decode))
    except MalformedFile as problem:
        yield Part((), problem.line, Unreadable(str(problem)))


def walk(file: Readable, shape: Any) -> Iterator[Part]:
    """The parts of a file, in their order. A broken end of the file is a part as well."""
    return _parts(file, lambda window: _value(window, shape, ()))


_MAX_NODE_DEPTH: Final = 100


def nodes(file: Readable) -> Iterator[Part]:
    """Every object of a file with its texts and numbers, after the objects inside it."""
    return _parts(file, lambda window: _nodes(window, ()))


def _parts(file: Readable, read: Callable[[Window], Iterator[Part]]) -> Iterator[Part]:
    window = Window(file)
    window.skip(SEPARATOR)
    try:
        yield from read(window)
    except MalformedFile as problem:
        yield Part((), problem.line, Unreadable(str(problem)))


def _nodes(window: Window, path: tuple[str | int, ...]) -> Iterator[Part]:
    is_list, line = window.begins_with(b"["), window.line
    if len(path) > _MAX_NODE_DEPTH:
        skip_value(window)
        return
    window.advance_to(window.position + 1)
    fields: dict[str, Any] = {}
    number = 0
    while not _is_at_end(window, b"]" if is_list else b"}"):
        key = number if is_list else _key(window)
        number += 1
        if window.begins_with(b"{") or window.begins_with(b"["):
            yield from _nodes(window, (*path, key))
        else:
            part = _part(window, ())
            if not is_list and not isinstance(part.value, Unreadable):
                fields[str(key)] = part.value
    if not is_list:
        yield Part(path, line, fields)


def _value(window: Window, shape: Any, path: tuple[str | int, ...]) -> Iterator[Part]:
    is_object, is_list = window.begins_with(b"{"), window.begins_with(b"[")
    if shape == LISTS and len(path) < _MAX_LIST_DEPTH and (is_object or is_list):
        shape = {ANY: LISTS} if is_object else [PART]
    if isinstance(shape, dict) and is_object:
        yield from _members(window, shape, path)
    elif isinstance(shape, list) and is_list:
        yield from _items(window, shape[0], path)
    elif shape == PART:
        yield _part(window, path)
    else:
        skip_value(window)


def _part(window: Window, path: tuple[str | int, ...]) -> Part:
    record = element(window)
    return Part(path, record.line, value_of(record))


def _members(window: Window, shape: dict[str, Any], path: tuple[str | int, ...]) -> Iterator[Part]:
    window.advance_to(window.position + 1)
    while not _is_at_end(window, b"}"):
        key = _key(window)
        yield from _value(window, shape.get(key, shape.get(ANY)), (*path, key))


def _items(window: Window, shape: Any, path: tuple[str | int, ...]) -> Iterator[Part]:
    window.advance_to(window.position + 1)
    number = 0
    while not _is_at_end(window, b"]"):
        yield from _value(window, shape, (*path, number))
        number += 1


def _is_at_end(window: Window, bracket: bytes) -> bool:
    window.skip(SEPARATOR)
    if window.position == len(window.data):
        raise MalformedFile(window.line, _NOT_COMPLETE)
    if window.begins_with(bracket):
        window.advance_to(window.position + 1)
        return True
    if window.data[window.position : window.position + 1] in (b"]", b"}"):
        raise MalformedFile(window.line, "A bracket here has no partner.")
    return False


def _key(window: Window) -> str:
    while True:
        match = MEMBER.match(window.data, window.position)
        # The value must have begun as well, else more white space may follow.
        if match and match.end() < len(window.data):
            window.advance_to(match.end())
            return match[1].decode("utf-8", "replace")
        is_too_long = len(window.data) - window.position > _MAX_KEY_BYTES
        if is_too_long or not window.begins_with(b'"') or not window.more():
            raise MalformedFile(window.line, "Expected the name of a field here.")


# The text may be cut inside a string. If that did not match, each quotation mark in it would be
# tried as the beginning of one, to the end of the text.
_TOKEN: Final = re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)(?:"|\\?\Z)|([\[\]{}:,])', re.DOTALL)
_MAX_DEPTH: Final = 8
_MAX_KEY_CHARACTERS: Final = 100
_MAX_PATHS: Final = 2000


class Outline(frozenset[str]):
    """Paths of keys, for example "bookmarks[].content.url". An array adds "[]" to its path."""

    __slots__ = ()

    def has(self, *paths: str) -> bool:
        return all(path in self for path in paths)


def outline(text: str) -> Outline:
    scan = _Scan()
    last_string = ""
    for match in _TOKEN.finditer(text):
        string, mark = match.groups()
        if mark is None:
            last_string = string[:_MAX_KEY_CHARACTERS]
        elif mark == ":":
            scan.name(last_string)
        elif mark in "[{":
            scan.open(mark)
        else:
            scan.end(mark)
        if len(scan.paths) >= _MAX_PATHS:
            break
    return Outline(scan.paths)


class _Scan:
    def __init__(self) -> None:
        self.paths: set[str] = set()
        # The path of each open bracket, and how many are open below the deepest of interest.
        self._open: list[str] = []
        self._hidden = 0
        self._key = ""

    def name(self, key: str) -> None:
        self._key = key
        if self._open and not self._hidden:
            self.paths.add(self._path())

    def open(self, bracket: str) -> None:
        if self._hidden or len(self._open) >= _MAX_DEPTH:
            self._hidden += 1
            return
        path = self._path() + ("[]" if bracket == "[" else "")
        self._open.append(path)
        self.paths.add(path)
        self._key = ""

    def end(self, mark: str) -> None:
        self._key = ""
        if mark == ",":
            return
        if self._hidden:
            self._hidden -= 1
        elif self._open:
            self._open.pop()

    def _path(self) -> str:
        parent = self._open[-1] if self._open else ""
        return f"{parent}.{self._key}" if parent and self._key else parent or self._key
