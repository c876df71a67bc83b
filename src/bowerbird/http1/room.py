"""The room for connections: how many may be open, and how long each may wait for its client."""

import asyncio
from collections import OrderedDict
from enum import Enum, auto
from typing import Final, Protocol

import structlog

from bowerbird.http1 import bounds
from bowerbird.http1.bounds import BodyMemory, Bounds
from bowerbird.http1.exchange import HttpDate

_SWEEP_S: Final = 0.5


class Wait(Enum):
    """What a connection expects of its client."""

    FIRST_REQUEST = auto()
    NEXT_REQUEST = auto()
    # The rest of the request line and headers.
    HEAD = auto()
    BODY = auto()
    # The client has to read what was sent.
    READING = auto()
    # The client has its answer, and has to close the connection.
    LEAVING = auto()


class Occupant(Protocol):
    """What the room knows of a connection."""

    # None while the server works for this connection.
    wait: Wait | None
    waits_since: float
    is_reserved: bool

    def progress(self) -> int:
        """Bytes that the client has sent or read since the wait began."""

    def unsent_bytes(self) -> int: ...
    def expire(self) -> None: ...
    def close_unless_busy(self) -> None: ...
    def abort(self) -> None: ...


class Room:
    """All open connections of one process."""

    def __init__(self, limits: Bounds, bodies: BodyMemory) -> None:
        self.bounds = limits
        self.is_closing = False
        self.date = HttpDate()
        self.bodies = bodies
        self._open: set[Occupant] = set()
        # Those that wait for their client, the longest wait first.
        self._waiting: OrderedDict[Occupant, None] = OrderedDict()
        self._loop = asyncio.get_running_loop()
        self._emptied = asyncio.Event()
        self._shed = 0
        self._timeouts = {
            Wait.FIRST_REQUEST: limits.header_timeout_s,
            Wait.NEXT_REQUEST: limits.idle_timeout_s,
            Wait.HEAD: limits.header_timeout_s,
            Wait.BODY: limits.body_timeout_s,
            Wait.READING: limits.response_timeout_s,
            Wait.LEAVING: bounds.LINGER_S,
        }

    def admit(self, connection: Occupant) -> None:
        """Makes room for a new connection by closing the one that has waited longest.

        If no other connection waits, all are busy. The new one then gets a reserved place, which
        serves health checks only.
        """
        self._open.add(connection)
        self._emptied.clear()
        if len(self._open) <= self.bounds.max_connections:
            return
        longest = next(iter(self._waiting), None)
        if longest is not None:
            self._close_early(longest)
        connection.is_reserved = len(self._open) > self.bounds.max_connections
        if len(self._open) > self.bounds.max_connections + bounds.RESERVED_CONNECTIONS:
            self._close_early(connection)

    def _close_early(self, connection: Occupant) -> None:
        self._shed += 1
        connection.abort()
        self.leave(connection)

    def leave(self, connection: Occupant) -> None:
        self._open.discard(connection)
        self._waiting.pop(connection, None)
        if not self._open:
            self._emptied.set()

    def note_wait(self, connection: Occupant) -> None:
        """Records that the connection's wait has begun or ended."""
        self._waiting.pop(connection, None)
        if connection.wait is not None and connection in self._open:
            connection.waits_since = self._loop.time()
            self._waiting[connection] = None

    async def keep_sweeping(self) -> None:
        """Closes connections whose client has kept the server waiting too long."""
        while True:
            await asyncio.sleep(_SWEEP_S)
            self._sweep()

    def _sweep(self) -> None:
        now = self._loop.time()
        for connection in [one for one in self._waiting if self._deadline(one) < now]:
            try:
                connection.expire()
            except Exception:  # noqa: BLE001 - one connection must not keep the others open
                structlog.get_logger().exception("connection not closed")
                self.leave(connection)
        self._bound_unsent()
        if self._shed:
            structlog.get_logger().warning(
                "connections shed", count=self._shed, limit=self.bounds.max_connections
            )
            self._shed = 0
        if refused := self.bodies.count_refused():
            structlog.get_logger().warning("bodies refused", count=refused)

    def _deadline(self, connection: Occupant) -> float:
        wait = connection.wait
        if wait is None:
            return float("inf")
        deadline = connection.waits_since + self._timeouts[wait]
        if wait in (Wait.BODY, Wait.READING):
            deadline += connection.progress() / bounds.MIN_BYTES_PER_SECOND
        return deadline

    def _bound_unsent(self) -> None:
        """Closes the connections with the largest unread answers if all take too much memory."""
        unread = [one for one in self._waiting if one.wait is Wait.READING]
        sizes = {one: one.unsent_bytes() for one in unread}
        total = sum(sizes.values())
        for connection in sorted(unread, key=sizes.__getitem__, reverse=True):
            if total <= bounds.MAX_ALL_UNSENT_BYTES:
                return
            total -= sizes[connection]
            self._close_early(connection)

    async def close(self, timeout_s: float) -> None:
        """Lets current requests finish; closes what is left after the time-out."""
        self.is_closing = True
        for connection in list(self._open):
            connection.close_unless_busy()
        if not self._open:
            return
        try:
            await asyncio.wait_for(self._emptied.wait(), timeout_s)
        except TimeoutError:
            for connection in list(self._open):
                connection.abort()
            await self._emptied.wait()
