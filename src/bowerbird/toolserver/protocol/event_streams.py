"""Sends notifications of a call, such as its progress, before its response, as an event stream.

A call without notifications is answered with JSON. So is a client that does not accept streams; it
gets no notifications.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.jsonrpc_dispatcher import progress_token_from_params
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext

from bowerbird.toolserver.protocol.http_endpoint import encoded
from bowerbird.toolserver.tools.tool import Json
from bowerbird.wire.responses.replies import PRIVATE, Reply

EVENT_STREAM: Final = b"text/event-stream"
_ONE_WAY: Final = TransportContext(kind="streamable-http", can_send_request=False)
# Proxies must not collect a stream before they pass it on.
_HEADERS: Final = [(b"content-type", EVENT_STREAM), *PRIVATE, (b"x-accel-buffering", b"no")]
# A client that reads nothing loses further notifications, never the response.
MAX_WAITING_BYTES: Final = 16 * 1024
# Work that goes on after its client has left, because it may have changed something.
_unwatched: Final[set["asyncio.Task[Reply]"]] = set()


class Notifications:
    """The events that wait for the client. It can miss some, but it gets the latest progress."""

    def __init__(self) -> None:
        self._waiting: deque[bytes] = deque()
        self._bytes = 0
        # Sent after the others, because it no longer fitted.
        self._latest_progress = b""
        self._has_some = asyncio.Event()

    def add(self, event: bytes, *, is_progress: bool = False) -> None:
        if self._bytes + len(event) <= MAX_WAITING_BYTES and not self._latest_progress:
            self._waiting.append(event)
            self._bytes += len(event)
        elif is_progress:
            self._latest_progress = event
        else:
            return
        self._has_some.set()

    def take(self) -> bytes | None:
        """The next event; None if none waits."""
        if self._waiting:
            event = self._waiting.popleft()
            self._bytes -= len(event)
            return event
        event, self._latest_progress = self._latest_progress, b""
        self._has_some.clear()
        return event or None

    async def wait(self) -> None:
        await self._has_some.wait()


@dataclass
class Channel:
    """The channel of a request, as the SDK's runner needs it. It cannot send requests."""

    request_id: Any
    message_metadata: ServerMessageMetadata
    params: Json | None = None
    accepts_stream: bool = False
    transport: TransportContext = _ONE_WAY
    can_send_request: bool = False
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)
    notifications: Notifications = field(default_factory=Notifications)

    async def send_raw_request(self, method: str, *_: Any, **__: Any) -> dict[str, Any]:
        raise NoBackChannelError(method)

    async def notify(self, method: str, params: Any = None, *_: Any) -> None:
        if self.accepts_stream:
            self.notifications.add(_notification(method, dict(params or {})))

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        token = progress_token_from_params(self.params)
        if self.accepts_stream and token is not None:
            values = {"progress": progress, "total": total, "message": message}
            sent = {name: value for name, value in values.items() if value is not None}
            event = _notification("notifications/progress", {"progressToken": token, **sent})
            self.notifications.add(event, is_progress=True)


async def answered(
    channel: Channel, work: Coroutine[Any, Any, Reply], may_cancel: Callable[[], bool]
) -> Reply:
    """The reply of `work`, or a stream that starts with its first notification."""
    if not channel.accepts_stream:
        return await work
    working = asyncio.create_task(work)
    try:
        first = await _next(channel, working)
    except asyncio.CancelledError:
        working.cancel()
        raise
    if first is None:
        return await working
    return Reply(200, _HEADERS, stream=_events(channel, first, working, may_cancel))


async def _events(
    channel: Channel,
    first: bytes,
    working: "asyncio.Task[Reply]",
    may_cancel: Callable[[], bool],
) -> AsyncIterator[bytes]:
    try:
        yield first
        while (event := await _next(channel, working)) is not None:
            yield event
        yield _event((await working).body)
    finally:
        _leave(working, may_cancel)


async def _next(channel: Channel, working: "asyncio.Task[Reply]") -> bytes | None:
    """The next notification; None if there will be none."""
    if (event := channel.notifications.take()) is not None:
        return event
    if working.done():
        return None
    waiting = asyncio.create_task(channel.notifications.wait())
    try:
        await asyncio.wait((working, waiting), return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
    return channel.notifications.take()


def _leave(working: "asyncio.Task[Reply]", may_cancel: Callable[[], bool]) -> None:
    """The stream has ended. If its client has left, only a call that reads is cancelled."""
    if working.done():
        return
    if may_cancel():
        working.cancel()
    else:
        _unwatched.add(working)
        working.add_done_callback(_unwatched.discard)


def _notification(method: str, params: Json) -> bytes:
    return _event(encoded({"jsonrpc": "2.0", "method": method, "params": params}))


def _event(message: bytes) -> bytes:
    return b"event: message\r\ndata: %b\r\n\r\n" % message
