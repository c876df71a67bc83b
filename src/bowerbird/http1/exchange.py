"""One request and its answer. The body is read as the application asks for it."""

import asyncio
import time
from collections.abc import Sequence
from email.utils import formatdate
from http import HTTPStatus
from typing import Final, Protocol

from starlette.types import Message, Scope

from bowerbird.errors import Refusal
from bowerbird.http1 import bounds
from bowerbird.http1.bounds import Claim
from bowerbird.http1.request_reader import RequestHead
from bowerbird.wire.pipeline import ACCOUNT

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


def head_bytes(status: int, headers: Sequence[Header], own_lines: Sequence[bytes]) -> bytes:
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


class Wire(Protocol):
    """What an exchange needs of its connection."""

    def write(self, parts: list[bytes]) -> None: ...
    async def drained(self) -> None: ...
    def read_on(self) -> None: ...
    def date_line(self) -> bytes: ...
    def claim_body(self, scope: Scope, *, is_stranger: bool) -> Claim: ...


class Exchange:
    """Passes the body of a request to the application, and its answer to the connection."""

    __slots__ = (
        "_arrived",
        "_chunked",
        "_claim",
        "_expects_continue",
        "_has_ended",
        "_headers",
        "_is_ending",
        "_is_over",
        "_is_stranger",
        "_is_wanted",
        "_no_body",
        "_refusal",
        "_status",
        "_unread",
        "_waiter",
        "_wire",
        "closes",
        "is_answered",
        "is_gone",
        "is_head_sent",
        "is_pipelined",
        "scope",
    )

    def __init__(self, wire: Wire, head: RequestHead, *, is_pipelined: bool = False) -> None:
        self._wire = wire
        self.scope: Scope = head.scope
        self.closes = head.closes
        # Sent before the answer to another request.
        self.is_pipelined = is_pipelined
        self._expects_continue = head.expects_continue
        self._unread = bytearray()
        self._claim: Claim | None = None
        # The application has not begun, or has asked for the body without knowing the caller.
        self._is_stranger = is_pipelined
        self._is_wanted = False
        # The application has returned.
        self._is_over = False
        # All of the body has arrived, and the application has been told so.
        self._arrived = False
        self._has_ended = False
        self._waiter: asyncio.Future[None] | None = None
        self._refusal: Refusal | None = None
        self._status = 0
        self._headers: list[tuple[bytes, bytes]] = []
        self._chunked = False
        self._no_body = False
        self._is_ending = False
        self.is_gone = False
        self.is_head_sent = False
        self.is_answered = False

    @property
    def has_arrived(self) -> bool:
        return self._arrived

    @property
    def is_full(self) -> bool:
        return len(self._unread) > bounds.MAX_UNREAD_BODY_BYTES

    def add_body(self, piece: bytes) -> None:
        if self._refusal is not None or self._is_over:
            return
        # One buffer: a list of tiny pieces takes many times their size.
        self._unread += piece
        self._wake()
        if self._claim is None:
            self._claim = self._wire.claim_body(self.scope, is_stranger=self._is_stranger)
        self._claim.add(len(piece))

    def end_body(self) -> None:
        self._arrived = True
        if self._claim is not None:
            self._claim.end()
        self._wake()

    def start(self) -> None:
        """The application begins, and finds out who calls."""
        self._place(is_stranger=False)

    def _place(self, *, is_stranger: bool) -> None:
        self._is_stranger = is_stranger
        if self._claim is not None:
            self._claim.move(is_stranger=is_stranger)

    def release_body(self) -> None:
        """Nobody will read what is left of the body."""
        self._is_over = True
        self._drop_body()

    def _drop_body(self) -> None:
        self._unread = bytearray()
        if self._claim is not None:
            self._claim.release()

    def refuse_body(self, refusal: Refusal) -> None:
        """Makes the application's next read of the body fail."""
        self._refusal = refusal
        self._drop_body()
        self._wake()

    def announce_end(self) -> None:
        """Tells the application that the client has closed its side; it may still read."""
        self._is_ending = True
        self._wake()

    def disconnect(self) -> None:
        self.is_gone = True
        self._wake()

    async def receive(self) -> Message:
        if self._expects_continue and not self.is_head_sent and not self.is_gone:
            self._wire.write([CONTINUE])
        self._expects_continue = False
        if not self._is_wanted:
            self._is_wanted = True
            self._place(is_stranger=ACCOUNT not in self.scope)
        while True:
            if self._refusal is not None:
                raise self._refusal
            if self._unread:
                return self._next_piece()
            if self._arrived and not self._has_ended:
                self._has_ended = True
                return {"type": "http.request", "body": b"", "more_body": False}
            if self.is_gone or self._is_ending or self.is_answered:
                return {"type": "http.disconnect"}
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter

    def _next_piece(self) -> Message:
        body, was_full = bytes(self._unread), self.is_full
        self._unread = bytearray()
        if self._claim is not None:
            self._claim.take(len(body))
        self._has_ended = self._arrived
        if was_full:
            self._wire.read_on()
        return {"type": "http.request", "body": body, "more_body": not self._arrived}

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def send(self, message: Message) -> None:
        if self.is_gone:
            # Lets the application notice, instead of writing to nobody without a pause.
            await asyncio.sleep(0)
            return
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._headers = message["headers"]
            return
        body: bytes = message.get("body", b"")
        is_last = not message.get("more_body", False)
        parts = [] if self.is_head_sent else [self._head(body, is_last=is_last)]
        self.is_head_sent = True
        if not self._no_body:
            if body:
                parts.append(chunk(body) if self._chunked else body)
            if is_last and self._chunked:
                parts.append(LAST_CHUNK)
        self.is_answered = is_last
        if parts:
            self._wire.write(parts)
        if not is_last:
            await self._wire.drained()

    def _head(self, body: bytes, *, is_last: bool) -> bytes:
        if not self._arrived:
            # What is left of the body is not read, so no other request can follow it.
            self.closes = True
        self._no_body = has_no_body(self.scope["method"], self._status)
        own_lines = [self._wire.date_line()]
        names = [name for name, _ in self._headers]
        if not self._no_body and b"content-length" not in names:
            if is_last:
                own_lines.append(b"content-length: %d\r\n" % len(body))
            elif self.scope["http_version"] == "1.1":
                self._chunked = True
                own_lines.append(b"transfer-encoding: chunked\r\n")
            else:
                self.closes = True
        if self.closes:
            own_lines.append(b"connection: close\r\n")
        return head_bytes(self._status, self._headers, own_lines)
