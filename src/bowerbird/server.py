"""Runs the service: one process by default, its log, its admin port, and an orderly stop."""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from typing import Final

import uvloop
from granian.constants import Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server

from bowerbird import app, logs
from bowerbird.app import App
from bowerbird.clock import system_clock
from bowerbird.settings import BadSetting, Settings
from bowerbird.storage.opening import open_database

# Far above our own bound of 32 KiB, so that the envelope answers up to here, not the server.
_HEADER_BUFFER: Final = 512 * 1024


def run(settings: Settings, worker: int = 0) -> None:
    """Serves until SIGTERM or SIGINT; requests under way finish first."""
    logs.configure(settings.log_level)
    uvloop.run(_serve(settings, worker))


def require_free_port(settings: Settings) -> None:
    """Says so in a sentence when the address cannot be listened on."""
    family, address = _address(settings)
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, settings.port))
        except OSError as error:
            raise _cannot_listen(settings, error) from None


def _address(settings: Settings) -> tuple[socket.AddressFamily, str]:
    """The number of the host; granian takes no names."""
    try:
        found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise _cannot_listen(settings, error) from None
    family, _, _, _, address = found[0]
    return family, str(address[0])


def _cannot_listen(settings: Settings, error: OSError) -> BadSetting:
    return BadSetting(
        f"Cannot listen on {settings.host}:{settings.port}: {error.strerror}. "
        "Choose another with --host and --port."
    )


async def _serve(settings: Settings, worker: int) -> None:
    async with _running(settings) as running:
        _open_admin_port(settings, running, worker)
        server = Server(
            running.asgi,
            address=_address(settings)[1],
            port=settings.port,
            interface=Interfaces.ASGINL,
            websockets=False,
            backlog=1024,
            http1_settings=HTTP1Settings(max_buffer_size=_HEADER_BUFFER),
            log_enabled=False,
        )
        await _until_stopped(server, settings.stop_timeout_s, is_further=worker > 0)


async def _until_stopped(server: Server, stop_timeout_s: int, *, is_further: bool) -> None:
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stopping.set)
    if is_further:
        # Its input ends when the first process does, however that came to its end.
        loop.add_reader(sys.stdin.fileno(), stopping.set)
    serving = asyncio.create_task(server.serve())
    waiting = asyncio.create_task(stopping.wait())
    await asyncio.wait((serving, waiting), return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    server.stop()  # type: ignore[no-untyped-call] # granian leaves it untyped
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(serving, stop_timeout_s)


@contextlib.asynccontextmanager
async def _running(settings: Settings) -> AsyncIterator[App]:
    database = await open_database(settings)
    service = app.build(settings, database, system_clock)
    flushing = asyncio.create_task(service.calls.keep_flushing())
    noting = asyncio.create_task(service.uses.keep_flushing())
    sweeping = asyncio.create_task(service.sweeping.keep_sweeping())
    try:
        yield service
    finally:
        sweeping.cancel()
        service.calls.stop()
        service.uses.stop()
        await asyncio.wait((sweeping, flushing, noting))
        await database.close()


def _open_admin_port(settings: Settings, running: App, worker: int) -> None:
    if not settings.admin_port:
        return
    from prometheus_client import start_http_server  # noqa: PLC0415 - 40 ms that not everyone needs

    port = settings.admin_port + worker
    try:
        start_http_server(port, settings.admin_host, running.measures.registry)
    except OSError as error:
        raise BadSetting(
            f"Cannot listen on the admin port {port}: {error.strerror}. "
            "Set BOWERBIRD_ADMIN_PORT to another, or to 0 for none."
        ) from None


def environment_for(settings: Settings) -> dict[str, str]:
    """What a further server process needs to run with the same settings."""
    return {
        **os.environ,
        "BOWERBIRD_HOST": settings.host,
        "BOWERBIRD_PORT": str(settings.port),
        "BOWERBIRD_WORKERS": "1",
    }
