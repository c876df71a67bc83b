"""Reads bodies: of a known length, or chunked (RFC 9112, 7.1).

llhttp could read them too, but accepts any number of zeros before the size of a chunk, and does not
tell where a body ends, so that the line of the next request could not be checked.
"""

import re
from collections.abc import Callable
from typing import Final, Protocol

from bowerbird.http1 import refusals

_MAX_LINE_BYTES: Final = 4 * 1024
# Sizes, extensions and fields after a body are read too, and must not go on for ever. Tiny chunks
# cost as much to read as large ones.
_FREE_FRAMING_BYTES: Final = 16 * 1024
_MAX_FRAMING_RATIO: Final = 3
_FREE_CHUNKS: Final = 64
_MIN_CHUNK_BYTES: Final = 64
_END: Final = b"\r\n"
_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,8})(?:;[\t\x20-\x7e\x80-\xff]{0,4000})?\r\n")
_FIELD: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*\r\n")


class BodyReader(Protocol):
    is_whole: bool

    def read(self, data: bytes, at: int) -> int:
        """Reads `data` from position `at`; returns the position after what belongs to the body."""


class SizedReader:
    """Calls `add` with the content."""

    __slots__ = ("_add", "_left", "is_whole")

    def __init__(self, add: Callable[[bytes], None], size: int) -> None:
        self._add = add
        self._left = size
        self.is_whole = size == 0

    def read(self, data: bytes, at: int) -> int:
        piece = data[at : at + self._left]
        self._left -= len(piece)
        self.is_whole = self._left == 0
        self._add(piece)
        return at + len(piece)


class ChunkReader:
    """Calls `add` with the content. Fields after it are checked and dropped."""

    __slots__ = (
        "_add",
        "_chunks",
        "_content",
        "_framing",
        "_has_content_ended",
        "_left",
        "_line",
        "is_whole",
    )

    def __init__(self, add: Callable[[bytes], None]) -> None:
        self._add = add
        self._content = self._framing = self._chunks = 0
        # What is left of a chunk, with the line break after it.
        self._left = 0
        # The beginning of a line that has not arrived completely.
        self._line = b""
        self._has_content_ended = False
        self.is_whole = False

    def read(self, data: bytes, at: int) -> int:
        while at < len(data) and not self.is_whole:
            if self._left:
                at = self._read_content(data, at)
            elif self._line or self._has_content_ended or not (found := _SIZE.match(data, at)):
                at = self._read_line(data, at)
            else:
                at = found.end()
                self._begin_chunk(found)
        return at

    def _read_content(self, data: bytes, at: int) -> int:
        size = self._left - len(_END)
        if size > 0:
            piece = data[at : at + size]
            self._content += len(piece)
            self._left -= len(piece)
            self._add(piece)
            at += len(piece)
        if self._left <= len(_END):
            end = data[at : at + self._left]
            if not _END[-self._left :].startswith(end):
                raise refusals.invalid(
                    "The body has a chunk that does not end where its size says."
                )
            self._left -= len(end)
            at += len(end)
        return at

    def _read_line(self, data: bytes, at: int) -> int:
        """Reads a line that arrives in pieces, is invalid, or follows the last chunk."""
        end = data.find(b"\n", at, at + _MAX_LINE_BYTES) + 1
        line = self._line + (data[at:end] if end else data[at : at + _MAX_LINE_BYTES])
        if len(line) >= _MAX_LINE_BYTES:
            raise refusals.too_much_framing()
        if not end:
            self._line = line
            return len(data)
        self._line = b""
        if self._has_content_ended:
            self._end_field(line)
        elif found := _SIZE.fullmatch(line):
            self._begin_chunk(found)
        else:
            raise refusals.invalid(
                "The body has an invalid chunk size; it must be 1 to 8 hexadecimal digits."
            )
        return end

    def _begin_chunk(self, line: re.Match[bytes]) -> None:
        self._count_framing(line.end() - line.start())
        size = int(line[1], 16)
        if not size:
            self._has_content_ended = True
            return
        self._chunks += 1
        if self._chunks > _FREE_CHUNKS + self._content // _MIN_CHUNK_BYTES:
            raise refusals.too_much_framing()
        self._left = size + len(_END)

    def _end_field(self, line: bytes) -> None:
        self._count_framing(len(line))
        if line == _END:
            self.is_whole = True
        elif _FIELD.fullmatch(line) is None:
            raise refusals.invalid("The body has an invalid field after its last chunk.")

    def _count_framing(self, size: int) -> None:
        self._framing += size
        if self._framing > _FREE_FRAMING_BYTES + self._content * _MAX_FRAMING_RATIO:
            raise refusals.too_much_framing()
