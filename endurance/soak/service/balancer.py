"""A load balancer on loopback: each request goes to the next server that accepts it.

It sends a request to another server only if the connection failed before a byte was sent. After
that the server may have done the work, so a broken connection is passed on: the client decides.
"""

import asyncio
import threading
from collections.abc import Sequence
from typing import Final, Protocol, Self

_READ_BYTES: Final = 65_536
_HEAD_BYTES: Final = 65_536
_CONNECT_S: Final = 2.0
_BODY: Final = (
    b'{"status":false,"code":"SERVICE_UNAVAILABLE","error":"No server can be reached. Retry."}'
)
UNREACHABLE: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\n"
    b"X-Balancer: 1\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(_BODY), _BODY)
)
REQUEST_ID: Final = "X-Request-Id"
_Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Target(Protocol):
    @property
    def port(self) -> int: ...

    @property
    def life(self) -> object:
        """Identifies the process that listens on the port now."""


class Balancer:
    """Runs in a thread of its own. Every client must send `Connection: close` and a request id."""

    def __init__(self, targets: Sequence[Target], port: int = 0) -> None:
        # 0 until it listens means any free port.
        self.port = port
        self._targets = targets
        self._next = 0
        self._lives: dict[str, object] = {}
        # asyncio keeps no strong reference to the task of a connection.
        self._tasks: set[asyncio.Task[None] | None] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="balancer")
        self.unreachable = 0

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def taken_life(self, request_id: str) -> object | None:
        """The process that got this request; None if none did. Answers once per request."""
        return self._lives.pop(request_id, None)

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", self.port, limit=_HEAD_BYTES, backlog=256
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        self._tasks.add(task)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            body = await reader.readexactly(_number(head, b"content-length"))
            await self._answer(head, head + body, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            # The server died, the client left, or the balancer stops.
            writer.transport.abort()
        finally:
            writer.close()
            self._tasks.discard(task)

    async def _answer(self, head: bytes, request: bytes, writer: asyncio.StreamWriter) -> None:
        stream = await self._connected(_value(head, REQUEST_ID.lower().encode()).decode())
        if stream is None:
            self.unreachable += 1
            writer.write(UNREACHABLE)
            await writer.drain()
            return
        reader, sending = stream
        try:
            sending.write(request)
            await sending.drain()
            while received := await reader.read(_READ_BYTES):
                writer.write(received)
                await writer.drain()
        finally:
            sending.transport.abort()

    async def _connected(self, request_id: str) -> _Stream | None:
        for _ in self._targets:
            target = self._targets[self._next % len(self._targets)]
            self._next += 1
            try:
                async with asyncio.timeout(_CONNECT_S):
                    stream = await asyncio.open_connection("127.0.0.1", target.port)
            except (OSError, TimeoutError):
                continue
            self._lives[request_id] = target.life
            return stream
        return None


def _value(head: bytes, name: bytes) -> bytes:
    for line in head.split(b"\r\n")[1:]:
        field, _, value = line.partition(b":")
        if field.strip().lower() == name:
            return value.strip()
    return b""


def _number(head: bytes, name: bytes) -> int:
    return int(_value(head, name) or b"0")
