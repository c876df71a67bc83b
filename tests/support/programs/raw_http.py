"""The HTTP/1.1 server with a small application, and clients that send and read bytes."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.types import Receive, Scope, Send

from bowerbird.http1 import connection
from bowerbird.http1.bounds import Bounds
from bowerbird.wire.pipeline import ACCOUNT

LIMITS = Bounds(
    max_connections=100,
    header_timeout_s=30,
    body_timeout_s=30,
    response_timeout_s=30,
    idle_timeout_s=30,
)


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Client:
    """One connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def answer(self, method: str = "GET") -> Answer:
        """Reads one answer as its headers frame it."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        lines = head.split("\r\n")
        headers = {
            name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:-2])
        }
        status = int(lines[0].split()[1])
        if method == "HEAD" or status in (100, 204, 304):
            body = b""
        elif headers.get("transfer-encoding") == "chunked":
            body = await self._chunks()
        elif "content-length" in headers:
            body = await self.reader.readexactly(int(headers["content-length"]))
        else:
            body = await self.reader.read()
        return Answer(status, headers, body)

    async def _chunks(self) -> bytes:
        parts = []
        while size := int(await self.reader.readline(), 16):
            parts.append(await self.reader.readexactly(size))
            await self.reader.readline()
        await self.reader.readline()
        return b"".join(parts)

    async def ask(self, path: str, *lines: str, method: str = "GET", body: bytes = b"") -> Answer:
        await self.send(request(path, *lines, method=method, body=body))
        return await self.answer(method)

    async def is_closed_by_the_server(self) -> bool:
        """Waits until the server closes the connection."""
        with contextlib.suppress(ConnectionError):
            return not await asyncio.wait_for(self.reader.read(), 20)
        return True

    def leave(self) -> None:
        self.writer.transport.abort()


class DeafClient:
    """A connection that sends a request and does not read its answer."""

    def __init__(self) -> None:
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._socket.setblocking(False)  # noqa: FBT003 - the name is fixed
        self._is_reset = False

    async def ask(self, port: int, path: str) -> None:
        loop = asyncio.get_running_loop()
        await loop.sock_connect(self._socket, ("127.0.0.1", port))
        await loop.sock_sendall(self._socket, request(path))

    async def is_reset(self) -> bool:
        """Whether the server has closed the connection by now."""
        # Reading the error also clears it.
        error = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        self._is_reset = self._is_reset or error != 0
        return self._is_reset

    def close(self) -> None:
        self._socket.close()


def request(path: str, *lines: str, method: str = "GET", body: bytes = b"") -> bytes:
    more = [f"Content-Length: {len(body)}"] if body else []
    head = [f"{method} {path} HTTP/1.1", "Host: localhost", *lines, *more, "", ""]
    return "\r\n".join(head).encode() + body


@dataclass
class RawServer:
    port: int
    # What each request of the application had, in the order of their ends.
    bodies: list[bytes] = field(default_factory=list)
    scopes: list[Scope] = field(default_factory=list)
    received_bytes: int = 0
    has_left: asyncio.Event = field(default_factory=asyncio.Event)
    clients: list[Client] = field(default_factory=list)
    is_released: asyncio.Event = field(default_factory=asyncio.Event)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    is_held: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))

    async def connect(self) -> Client:
        opened = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 24)
        self.clients.append(Client(*opened))
        return self.clients[-1]

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers by path; anything else is answered with the body that was sent."""
        self.scopes.append(scope)
        if account := dict(scope["headers"]).get(b"x-account"):
            scope[ACCOUNT] = int(account)
        await _ANSWERS.get(scope["path"], echo)(self, receive, send)


async def echo(service: RawServer, receive: Receive, send: Send) -> None:
    parts = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        parts.append(message["body"])
        service.received_bytes += len(message["body"])
        if not message["more_body"]:
            break
    service.bodies.append(b"".join(parts))
    await _start(send)
    await send({"type": "http.response.body", "body": b"".join(parts)})


async def drop(_: RawServer, receive: Receive, send: Send) -> None:
    """Reads the body as if it went to a file."""
    size, more = 0, True
    while more:
        message = await receive()
        size, more = size + len(message["body"]), message["more_body"]
    await _start(send)
    await send({"type": "http.response.body", "body": b"%d" % size})


async def ignore_body(_: RawServer, __: Receive, send: Send) -> None:
    await _start(send, 401)
    await send({"type": "http.response.body", "body": b"no"})


async def hold(service: RawServer, __: Receive, send: Send) -> None:
    service.is_held.release()
    await service.is_released.wait()
    await _start(send)
    await send({"type": "http.response.body", "body": b"held"})


async def wait(service: RawServer, receive: Receive, _: Send) -> None:
    """Waits until the client leaves."""
    service.is_held.release()
    while (await receive())["type"] != "http.disconnect":
        pass
    service.has_left.set()


async def large(_: RawServer, __: Receive, send: Send) -> None:
    await _start(send)
    await send({"type": "http.response.body", "body": b"x" * 20_000_000})


async def large_then_wait(service: RawServer, receive: Receive, send: Send) -> None:
    """Does something else after its answer is sent."""
    await large(service, receive, send)
    await service.is_released.wait()


async def endless_unless_gone(service: RawServer, receive: Receive, send: Send) -> None:
    await _start(send)
    await send({"type": "http.response.body", "body": b"x" * 20_000_000, "more_body": False})
    service.is_held.release()
    while (await receive())["type"] != "http.disconnect":
        pass
    service.has_left.set()


async def stream(_: RawServer, __: Receive, send: Send) -> None:
    await _start(send)
    for piece in (b"one ", b"", b"two"):
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def endless(_: RawServer, __: Receive, send: Send) -> None:
    await _start(send)
    while True:
        await send({"type": "http.response.body", "body": b"x" * 65_536, "more_body": True})


async def fail(_: RawServer, __: Receive, ___: Send) -> None:
    raise RuntimeError


async def break_off(_: RawServer, __: Receive, send: Send) -> None:
    await _start(send)
    await send({"type": "http.response.body", "body": b"half", "more_body": True})
    raise RuntimeError


async def line_break(_: RawServer, __: Receive, send: Send) -> None:
    headers = [(b"location", b"/a\r\nSet-Cookie: b")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


async def not_modified(_: RawServer, __: Receive, send: Send) -> None:
    await _start(send, 304)
    await send({"type": "http.response.body", "body": b""})


_ANSWERS: dict[str, Callable[[RawServer, Receive, Send], Any]] = {
    "/drop": drop,
    "/ignore": ignore_body,
    "/hold": hold,
    "/wait": wait,
    "/large": large,
    "/large-then-wait": large_then_wait,
    "/endless-unless-gone": endless_unless_gone,
    "/stream": stream,
    "/endless": endless,
    "/fail": fail,
    "/break-off": break_off,
    "/line-break": line_break,
    "/not-modified": not_modified,
}


async def _start(send: Send, status: int = 200) -> None:
    await send({"type": "http.response.start", "status": status, "headers": []})


@contextlib.asynccontextmanager
async def serving(limits: Bounds = LIMITS, stop_timeout_s: float = 5) -> AsyncIterator[RawServer]:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    service = RawServer(listener.getsockname()[1])
    running = asyncio.create_task(
        connection.serve(
            service.app,
            listener,
            limits,
            trusted_proxies="127.0.0.1",
            upgrade_url="http://localhost/upgrade",
            stopping=service.stopping,
            stop_timeout_s=stop_timeout_s,
        )
    )
    try:
        yield service
    finally:
        for client in service.clients:
            client.leave()
            with contextlib.suppress(ConnectionError):
                await client.writer.wait_closed()
        service.stopping.set()
        await running
