"""Serves an application on a loopback port, in a thread with its own event loop."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.support.serving import free_port
from tests.support.waiting import wait_until

Build = Callable[[], Coroutine[Any, Any, ASGIApp]]


def with_key(app: ASGIApp, key: str) -> ASGIApp:
    """Adds the key for programs that cannot send one."""

    async def shim(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            header = (b"authorization", f"Bearer {key}".encode())
            scope = {**scope, "headers": [*scope["headers"], header]}
        await app(scope, receive, send)

    return shim


@contextmanager
def served(build: Callable[[int], Coroutine[Any, Any, ASGIApp]]) -> Iterator[str]:
    """Yields the address of the tool server; `build` gets the port and returns the application."""
    port = free_port()
    servers: list[uvicorn.Server] = []

    async def main() -> None:
        app = await build(port)
        config = uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error", lifespan="off")
        servers.append(uvicorn.Server(config))
        await servers[0].serve()

    thread = threading.Thread(target=asyncio.run, args=(main(),), daemon=True)
    thread.start()
    wait_until(lambda: not thread.is_alive() or bool(servers and servers[0].started))
    assert thread.is_alive()
    try:
        yield f"http://localhost:{port}/mcp"
    finally:
        servers[0].should_exit = True
        thread.join(40)
