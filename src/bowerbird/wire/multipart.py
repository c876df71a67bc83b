"""Reads the parts of a form (multipart/form-data)."""

import re
from typing import IO, Final

from bowerbird import errors

_MAX_PART_HEADERS: Final = 16 * 1024
_BUFFER: Final = 256 * 1024
# A form in which no file was chosen has an empty name.
_IS_FILE: Final = re.compile(
    rb'content-disposition:[^\r\n]*;\s*filename\*?\s*=\s*(?:"[^"\r\n]|[^"\s;])', re.IGNORECASE
)
_FILE_NAME: Final = re.compile(
    rb'content-disposition:[^\r\n]*;\s*filename\s*=\s*"([^"\r\n]*)"', re.IGNORECASE
)
_FIELD_NAME: Final = re.compile(
    rb'content-disposition:[^\r\n]*;\s*name\s*=\s*"([^"\r\n]*)"', re.IGNORECASE
)
# What browsers write for the characters that cannot stand in a quoted name.
_ESCAPES: Final = {"%22": '"', "%0D": "", "%0A": ""}
_MAX_FILE_NAME: Final = 100
_END_OF_HEADERS: Final = b"\r\n\r\n"


def is_file(headers: bytes) -> bool:
    return _IS_FILE.search(headers) is not None


def name_of_file(headers: bytes) -> str:
    """Only to be shown: without folders and invisible characters. May be empty."""
    found = _FILE_NAME.search(headers)
    name = found[1].decode("utf-8", "replace") if found else ""
    for written, meant in _ESCAPES.items():
        name = name.replace(written, meant)
    name = re.split(r"[/\\]", name)[-1]
    name = "".join(filter(str.isprintable, name)).strip()
    return name if len(name) <= _MAX_FILE_NAME else f"{name[: _MAX_FILE_NAME - 1]}…"


def leading_fields(data: bytes, boundary: bytes) -> dict[str, str] | None:
    """The fields before the file, or all if there is no file. None if `data` ends before that."""
    fields: dict[str, str] = {}
    data, end = b"\r\n" + data, b"\r\n" + boundary
    at = data.find(end)
    while at >= 0:
        at += len(end)
        if data.startswith(b"--", at):
            return fields
        value = data.find(_END_OF_HEADERS, at)
        headers = data[at : value + 2]
        if value < 0:
            return None
        if is_file(headers):
            return fields
        at = data.find(end, value)
        if at >= 0:
            _add(fields, headers, data[value + len(_END_OF_HEADERS) : at])
    return None


def _add(fields: dict[str, str], headers: bytes, value: bytes) -> None:
    found = _FIELD_NAME.search(headers)
    try:
        name, text = (found[1] if found else b"").decode(), value.decode()
    except UnicodeDecodeError:
        raise errors.invalid("form", "is not readable") from None
    if name in fields:
        raise errors.invalid("form", "contains a field twice")
    fields[name] = text


class FormReader:
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
            start, end = self._at, self._data.find(_END_OF_HEADERS, self._at)
            if end >= 0:
                self._at = end + len(_END_OF_HEADERS)
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
