"""Servers on loopback that answer on a thread of their own, while a test waits in its own."""

import asyncio
import ssl
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Self, TypeVar
from urllib.parse import SplitResult, urlsplit

from tests.extension.patience import PATIENCE_S

T = TypeVar("T")
Connection = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
_MAX_HEAD: Final = 1 << 18
_PART: Final = 1 << 16


@dataclass(frozen=True)
class Request:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    raw: bytes

    @property
    def url(self) -> SplitResult:
        return urlsplit(self.target)

    @property
    def host(self) -> str:
        return self.headers.get("host", "").partition(":")[0]


async def read_request(reader: asyncio.StreamReader) -> Request:
    """Raises IncompleteReadError when the client has closed the connection."""
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = {k.lower(): v for k, _, v in (line.partition(": ") for line in lines if line)}
    assert "transfer-encoding" not in headers, "browsers know the length of what they send"
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(method, target, headers, body, head + body)


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Passes everything on until one side closes."""
    with suppress(OSError):
        while part := await reader.read(_PART):
            writer.write(part)
            await writer.drain()
    writer.close()


class Loopback:
    """The thread. `listen` and `stop_listening` may be called from any other."""

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._servers: dict[int, asyncio.Server] = {}
        self._open: dict[asyncio.Task[Any], int] = {}
        return self

    def __exit__(self, *_: object) -> None:
        for port in list(self._servers):
            self.stop_listening(port)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def listen(self, serve: Connection, tls: ssl.SSLContext | None = None, port: int = 0) -> int:
        """Returns the port."""
        return self._run(self._listen(serve, tls, port))

    def stop_listening(self, port: int) -> None:
        """Refuses new connections from now on, and ends the open ones."""
        self._run(self._stop(port))

    async def _listen(self, serve: Connection, tls: ssl.SSLContext | None, port: int) -> int:
        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task
            self._open[task] = writer.get_extra_info("sockname")[1]
            try:
                with suppress(asyncio.IncompleteReadError, OSError, ssl.SSLError):
                    await serve(reader, writer)
            except asyncio.CancelledError:
                writer.transport.abort()
            finally:
                del self._open[task]
                writer.close()

        more = {} if tls is None else {"ssl_shutdown_timeout": 1}
        server = await asyncio.start_server(
            connected, "127.0.0.1", port, ssl=tls, limit=_MAX_HEAD, **more
        )
        chosen: int = server.sockets[0].getsockname()[1]
        self._servers[chosen] = server
        return chosen

    async def _stop(self, port: int) -> None:
        server = self._servers.pop(port)
        server.close()
        tasks = [task for task, of in self._open.items() if of == port]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=PATIENCE_S)
