"""One connection: reads requests, runs the application for each in turn, writes its answers.

At any time either the server works for a connection, or the connection waits for its client. Each
kind of waiting has a time-out, and a connection that waits gives way to a new one when all room is
taken.

`serve` listens on a port and serves an ASGI application over HTTP/1.1.
"""

import asyncio
import contextlib
import socket
import struct
from collections import deque
from contextlib import suppress
from typing import Final, cast

import structlog
from starlette.types import ASGIApp, Scope

from bowerbird.errors import Refusal
from bowerbird.http1 import bounds, refusals
from bowerbird.http1.bounds import BodyMemory, Bounds, Claim
from bowerbird.http1.exchange import Exchange
from bowerbird.http1.refusals import Refusals
from bowerbird.http1.request_reader import RequestHead, RequestReader
from bowerbird.http1.room import Room, Wait
from bowerbird.wire.auth import ClientAddresses
from bowerbird.wire.responses import envelope

_RESET: Final = struct.pack("ii", 1, 0)


class Connection(asyncio.Protocol):
    """Called by the event loop for the socket, and by exchanges to write their answers."""

    def __init__(self, app: ASGIApp, room: Room, refuse: Refusals) -> None:
        self._app = app
        self._room = room
        self._refuse = refuse
        self._loop = asyncio.get_running_loop()
        self._reader = RequestReader(self._begin)
        # The exchange whose answer is being made, and those that wait for it.
        self._current: Exchange | None = None
        self._pipelined: deque[Exchange] = deque()
        self._failure: Refusal | None = None
        self._has_served = False
        self._is_reading = True
        self._is_unsent = False
        self._is_leaving = False
        self._is_lost = False
        # The client has closed its side.
        self._has_ended = False
        self._drained: asyncio.Future[None] | None = None
        # Keeps the running task from being collected.
        self._task: asyncio.Task[None] | None = None
        self._bytes_at_start = 0
        self._received = 0
        self.is_reserved = False
        self.wait: Wait | None = Wait.FIRST_REQUEST
        self.waits_since = 0.0

    # The socket

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=bounds.MAX_UNSENT_BYTES, low=0)
        self._client = _address(transport.get_extra_info("peername"))
        self._server = _address(transport.get_extra_info("sockname"))
        self._room.admit(self)
        self._room.note_wait(self)

    def connection_lost(self, _exc: Exception | None) -> None:
        self._is_lost = True
        self._room.leave(self)
        for exchange in (self._current, *self._pipelined):
            if exchange is not None:
                exchange.disconnect()
        for exchange in self._pipelined:
            exchange.release_body()
        self._pipelined.clear()
        self._wake()

    def data_received(self, data: bytes) -> None:
        if self._is_leaving or self._failure is not None:
            return
        self._received += len(data)
        try:
            self._reader.feed(data)
        except Refusal as refusal:
            self._fail(refusal)
        self._read_if_room()
        self._settle()

    def eof_received(self) -> bool:
        """A client that has sent its request may close its side and still wait for the answer.

        Most clients close both sides at once, so the application is told, and gives up a read that
        takes long. A client that has sent several requests without waiting wants all answers.
        """
        exchange = self._current
        if exchange is None or self._reader.body is not None:
            return False
        self._has_ended = True
        if not exchange.is_pipelined:
            exchange.announce_end()
        return True

    def pause_writing(self) -> None:
        self._is_unsent = True
        self._settle()

    def resume_writing(self) -> None:
        self._is_unsent = False
        self._wake()
        if self._current is not None and self._current.is_answered:
            self._finish(self._current)
        self._settle()

    # Exchanges

    def _begin(self, head: RequestHead) -> Exchange:
        """Takes a request whose head is complete."""
        if len(self._pipelined) >= bounds.MAX_PIPELINED:
            raise refusals.too_many_at_once()
        head.scope["client"], head.scope["server"] = self._client, self._server
        exchange = Exchange(self, head, is_pipelined=self._current is not None)
        if exchange.is_pipelined:
            self._pipelined.append(exchange)
        else:
            self._start(exchange)
        return exchange

    def _start(self, exchange: Exchange) -> None:
        self._current = exchange
        exchange.start()
        self._task = self._loop.create_task(self._run(exchange))

    async def _run(self, exchange: Exchange) -> None:
        try:
            await self._answer(exchange)
        except Refusal as refusal:
            if not exchange.is_head_sent:
                scope = exchange.scope
                await self._refuse.send(refusal, exchange.send, scope["path"], scope["headers"])
        except Exception:  # noqa: BLE001 - the caller gets an answer to every fault
            reference = self._refuse.new_id()
            structlog.get_logger().exception("fault", reference=reference, route="unknown")
            if not exchange.is_head_sent:
                path = exchange.scope["path"]
                await self._refuse.send(envelope.fault(reference), exchange.send, path)
        finally:
            exchange.release_body()
        if not exchange.is_answered:
            # Half an answer must not look like a whole one.
            self.abort()
        elif not self._is_unsent:
            self._finish(exchange)
            self._settle()

    async def _answer(self, exchange: Exchange) -> None:
        if self.is_reserved:
            exchange.closes = True
            if exchange.scope["path"] not in bounds.HEALTH_PATHS:
                raise refusals.no_room()
        await self._app(exchange.scope, exchange.receive, exchange.send)

    def _finish(self, exchange: Exchange) -> None:
        """Goes on after an answer that has been handed to the kernel."""
        # Called when the answer has been sent and when the application returns, in either order.
        if exchange is not self._current or self._transport.is_closing():
            return
        self._current = None
        self._has_served = True
        is_last = self._has_ended and not self._pipelined
        if exchange.closes or is_last or self._room.is_closing:
            self._leave(has_unread_body=not exchange.has_arrived)
        elif self._pipelined:
            self._start(self._pipelined.popleft())
            self._read_if_room()
        elif self._failure is not None:
            self._answer_failure(self._failure)

    def claim_body(self, scope: Scope, *, is_stranger: bool) -> Claim:
        return self._room.bodies.claim(scope, self._refuse_body, is_stranger=is_stranger)

    def _refuse_body(self) -> None:
        """Refuses the body that is arriving, because the server has no memory for it."""
        self._fail(refusals.no_memory())
        self._settle()

    def _fail(self, refusal: Refusal) -> None:
        """Refuses what the client has sent, after the answers to what came before it."""
        self._failure = refusal
        exchange = self._reader.body
        if isinstance(exchange, Exchange):
            exchange.closes = True
            exchange.refuse_body(refusal)
        elif self._current is None:
            self._answer_failure(refusal)

    def _answer_failure(self, refusal: Refusal) -> None:
        scope: Scope = {"method": "GET", "http_version": "1.1"}
        exchange = Exchange(self, RequestHead(scope, closes=True, expects_continue=False))
        self._current = exchange
        self._task = self._loop.create_task(self._send_failure(exchange, refusal))

    async def _send_failure(self, exchange: Exchange, refusal: Refusal) -> None:
        reader = self._reader
        await self._refuse.send(refusal, exchange.send, reader.path, reader.headers)
        if not self._is_unsent:
            self._finish(exchange)
            self._settle()

    # What an exchange asks for

    def write(self, parts: list[bytes]) -> None:
        self._transport.writelines(parts)

    async def drained(self) -> None:
        if self._is_unsent:
            self._drained = self._loop.create_future()
            await self._drained

    def _wake(self) -> None:
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)

    def read_on(self) -> None:
        self._read_if_room()
        self._settle()

    def date_line(self) -> bytes:
        return self._room.date.line()

    def _read_if_room(self) -> None:
        body = self._reader.body
        is_full = isinstance(body, Exchange) and body.is_full and not self._is_leaving
        wants_more = not self._pipelined and not is_full
        if wants_more == self._is_reading or self._transport.is_closing():
            return
        self._is_reading = wants_more
        if wants_more:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()

    # Waiting and leaving

    def _settle(self) -> None:
        """Finds out whether the connection now waits for its client, and tells the room."""
        wait = self._expected()
        if wait is not self.wait:
            self.wait = wait
            self._bytes_at_start = self.unsent_bytes() if wait is Wait.READING else self._received
            self._room.note_wait(self)

    def _expected(self) -> Wait | None:
        if self._is_leaving:
            return Wait.LEAVING
        if self._is_unsent:
            return Wait.READING
        if self._current is not None:
            is_incomplete = self._reader.body is self._current and self._failure is None
            return Wait.BODY if is_incomplete and self._is_reading else None
        if self._reader.head_bytes:
            return Wait.HEAD
        return Wait.NEXT_REQUEST if self._has_served else Wait.FIRST_REQUEST

    def progress(self) -> int:
        if self.wait is Wait.READING:
            return max(self._bytes_at_start - self.unsent_bytes(), 0)
        return self._received - self._bytes_at_start

    def unsent_bytes(self) -> int:
        return self._transport.get_write_buffer_size()

    def expire(self) -> None:
        """Ends a wait that took too long, with an answer where a request has begun."""
        limits = self._room.bounds
        if self.wait is Wait.HEAD:
            self._fail(refusals.late("headers", limits.header_timeout_s))
            self._settle()
        elif self.wait is Wait.BODY:
            self._fail(refusals.late("body", limits.body_timeout_s))
            self._settle()
        else:
            self.abort()

    def close_unless_busy(self) -> None:
        """Closes a connection without a request; one with a request closes after its answer."""
        if self._current is None:
            self._transport.close()
        else:
            self._current.closes = True

    def abort(self) -> None:
        if self._is_lost:
            return
        if self._is_unsent:
            # Otherwise the kernel keeps what the client does not read.
            opened: socket.socket = self._transport.get_extra_info("socket")
            with suppress(OSError, ValueError):
                opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self._transport.abort()

    def _leave(self, *, has_unread_body: bool) -> None:
        if not has_unread_body:
            self._transport.close()
            return
        # Closing a socket with unread bytes would reset it, and the client might lose the answer.
        self._is_leaving = True
        self._transport.write_eof()
        self._read_if_room()


def _address(name: object) -> tuple[str, int] | None:
    return (name[0], name[1]) if isinstance(name, tuple) else None


_BACKLOG: Final = 1024


async def serve(
    app: ASGIApp,
    listener: socket.socket,
    limits: Bounds,
    *,
    trusted_proxies: str,
    upgrade_url: str,
    stopping: asyncio.Event,
    stop_timeout_s: float,
) -> None:
    """Serves until `stopping` is set, then lets current requests finish within the time-out."""
    room = Room(limits, BodyMemory(ClientAddresses(trusted_proxies)))
    refuse = Refusals(upgrade_url)
    server = await asyncio.get_running_loop().create_server(
        lambda: Connection(app, room, refuse), sock=listener, backlog=_BACKLOG
    )
    sweeping = asyncio.create_task(room.keep_sweeping())
    try:
        await stopping.wait()
    finally:
        server.close()
        await room.close(stop_timeout_s)
        sweeping.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await sweeping
