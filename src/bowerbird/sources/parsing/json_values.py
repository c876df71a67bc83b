"""Decodes JSON records of foreign shape, and reads values in them that may not be there."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from bowerbird.sources.parsing.json_records import (
    MalformedFile,
    Readable,
    Record,
    Window,
    element,
    records,
)
from bowerbird.sources.parsing.text_lines import storable

_SUSPICIOUS_ESCAPE: Final = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
_MAX_INTEGER: Final = 2**63 - 1


class Unreadable(Exception):  # noqa: N818 - named for what it is
    """A record that is not JSON. The message is a sentence."""


def decode(raw: bytes) -> Any:
    """The value of a record, without characters that no database can store."""
    try:
        if _SUSPICIOUS_ESCAPE.search(raw):
            return cleaned(json.loads(raw, parse_constant=_reject_constant))
        return msgspec.json.decode(raw)
    except RecursionError:
        raise Unreadable("The record is nested too deeply.") from None
    except UnicodeDecodeError:
        raise Unreadable("The record is not UTF-8 text.") from None
    except (msgspec.MsgspecError, ValueError):
        raise Unreadable("The record is not valid JSON.") from None


def read_records(
    file: Readable, decode: Callable[[bytes], Any] = decode
) -> Iterator[tuple[int, Any]]:
    """The line and the value of each record. The value of a broken one is its Unreadable."""
    try:
        for record in records(file):
            try:
                value = Unreadable(record.problem) if record.problem else decode(record.raw)
            except Unreadable as problem:
                value = problem
            yield record.line, value
    except MalformedFile as problem:
        yield problem.line, Unreadable(str(problem))


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


def cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [cleaned(item) for item in value]
    if isinstance(value, dict):
        return {storable(key): cleaned(item) for key, item in value.items()}
    return value


def _reject_constant(name: str) -> Any:
    raise ValueError(f"{name} is not allowed")


# The bracket of an array around the documents says nothing.
_BETWEEN: Final = re.compile(rb"[ \t\r\n,\[\]]*")
_BOM: Final = b"\xef\xbb\xbf"


def documents(file: Readable) -> Iterator[Record]:
    """Each document with its first line. A broken end of the file is a record with a problem."""
    window = Window(file)
    window.more()
    if window.data.startswith(_BOM):
        window.position = len(_BOM)
    try:
        while True:
            window.skip(_BETWEEN)
            if window.position == len(window.data):
                return
            yield element(window)
    except MalformedFile as problem:
        yield Record(problem.line, b"", str(problem))
