"""Serves an application with granian in one uvloop process: the yardstick of the lists."""

import asyncio
import signal

import uvloop
from granian.constants import Interfaces
from granian.server.embed import Server
from starlette.types import ASGIApp


def run(app: ASGIApp, port: int) -> None:
    """Serves until SIGTERM."""
    uvloop.run(serve(app, port))


async def serve(app: ASGIApp, port: int) -> None:
    server = Server(
        app,
        address="127.0.0.1",
        port=port,
        interface=Interfaces.ASGINL,
        websockets=False,
        backlog=1024,
        log_enabled=False,
    )
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    serving = asyncio.create_task(server.serve())
    await stopping.wait()
    server.stop()  # type: ignore[no-untyped-call]  # granian has no types for it
    await serving
