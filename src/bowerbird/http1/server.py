"""Listens on a port and serves an ASGI application over HTTP/1.1."""

import asyncio
import contextlib
import socket
from typing import Final

from starlette.types import ASGIApp

from bowerbird.http1.body_memory import BodyMemory
from bowerbird.http1.bounds import Bounds
from bowerbird.http1.connection import Connection
from bowerbird.http1.refusals import Refusals
from bowerbird.http1.room import Room
from bowerbird.wire.client_addresses import ClientAddresses

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
