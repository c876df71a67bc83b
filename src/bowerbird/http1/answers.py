"""The bytes of answers: status line, headers, chunks."""

import time
from collections.abc import Sequence
from email.utils import formatdate
from http import HTTPStatus
from typing import Final

Header = tuple[bytes, bytes]

_STATUS_LINES: Final = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus
}
_NO_BODY: Final = frozenset({204, 304})
CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
LAST_CHUNK: Final = b"0\r\n\r\n"


class HttpDate:
    """The Date header, formatted once a second."""

    __slots__ = ("_line", "_second")

    def __init__(self) -> None:
        self._second = 0
        self._line = b""

    def line(self) -> bytes:
        second = int(time.time())
        if second != self._second:
            self._second = second
            self._line = f"date: {formatdate(second, usegmt=True)}\r\n".encode()
        return self._line


def has_no_body(method: str, status: int) -> bool:
    return status in _NO_BODY or method == "HEAD"


def head(status: int, headers: Sequence[Header], own_lines: Sequence[bytes]) -> bytes:
    """The status line and headers. `own_lines` are header lines that the server adds."""
    lines = b"\r\n".join([b": ".join(header) for header in headers])
    breaks = max(len(headers) - 1, 0)
    if lines.count(b"\n") != breaks or lines.count(b"\r") != breaks:
        raise ValueError("a header of the answer contains a line break")
    return b"".join(
        [_STATUS_LINES[status], lines, b"\r\n" if headers else b"", *own_lines, b"\r\n"]
    )


def chunk(piece: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(piece), piece)
