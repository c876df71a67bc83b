"""Runs the service: one process by default, its log, its admin port, and an orderly stop."""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from typing import Final

import structlog
import uvloop
from granian.constants import Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server

from bowerbird import app, logs
from bowerbird.app import App
from bowerbird.clock import system_clock
from bowerbird.errors import Refusal
from bowerbird.library.exports.file_place import FilePlace
from bowerbird.settings import BadSetting, Settings
from bowerbird.storage.database import Database
from bowerbird.storage.files.files import Files
from bowerbird.storage.opening import open_database

# Far above our own bound of 32 KiB, so that the envelope answers up to here, not the server.
_HEADER_BUFFER: Final = 512 * 1024
_LOOK_AGAIN_S: Final = 3.0


def run(settings: Settings, worker: int = 0) -> None:
    """Serves until SIGTERM or SIGINT; requests under way finish first."""
    logs.configure(settings.log_level)
    uvloop.run(_serve(settings, worker))


def run_worker(settings: Settings) -> None:
    """Does jobs until SIGTERM or SIGINT; what is under way goes back into the queue."""
    logs.configure(settings.log_level)
    uvloop.run(_work(settings))


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
    stopping = _stop_signal()
    if worker > 0:
        # Its input ends when the first process does, however that came to its end.
        asyncio.get_running_loop().add_reader(sys.stdin.fileno(), stopping.set)
    does_jobs = settings.is_sqlite and worker == 0
    async with _running(settings, stopping, does_jobs=does_jobs) as running:
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
        await _until_stopped(server, settings.stop_timeout_s, stopping)


async def _work(settings: Settings) -> None:
    stopping = _stop_signal()
    database = await open_database(settings)
    searching = app.build_searching(settings, database, system_clock)
    try:
        worker = app.build_worker(settings, database, Files(settings), system_clock, searching)
        await _until_shared(settings, database, stopping)
        await worker.run(stopping)
    finally:
        await searching.models.close()
        await database.close()


def _stop_signal() -> asyncio.Event:
    stopping = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stopping.set)
    return stopping


async def _until_stopped(server: Server, stop_timeout_s: int, stopping: asyncio.Event) -> None:
    serving = asyncio.create_task(server.serve())
    waiting = asyncio.create_task(stopping.wait())
    await asyncio.wait((serving, waiting), return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    server.stop()  # type: ignore[no-untyped-call] # granian leaves it untyped
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(serving, stop_timeout_s)


@contextlib.asynccontextmanager
async def _running(
    settings: Settings, stopping: asyncio.Event, *, does_jobs: bool
) -> AsyncIterator[App]:
    database = await open_database(settings)
    service = app.build(settings, database, system_clock)
    flushing = asyncio.create_task(service.calls.keep_flushing())
    noting = asyncio.create_task(service.uses.keep_flushing())
    tasks = [asyncio.create_task(service.sweeping.keep_sweeping())]
    if settings.admin_port:
        tasks.append(asyncio.create_task(service.watch.keep_refreshing()))
    if not settings.is_sqlite:
        tasks.append(asyncio.create_task(_require_shared_files(settings, database)))
    working = [asyncio.create_task(service.worker.run(stopping))] if does_jobs else []
    try:
        yield service
    finally:
        stopping.set()
        for task in tasks:
            task.cancel()
        service.calls.stop()
        service.uses.stop()
        await asyncio.wait((*tasks, *working, flushing, noting))
        await service.models.close()
        await database.close()


async def _require_shared_files(settings: Settings, database: Database) -> None:
    """Ends a node that turns out, once the database answers, to keep files of its own."""
    try:
        await _look_until_shared(settings, database)
    except BadSetting as error:
        structlog.get_logger().error("stopped", reason=str(error))
        os.kill(os.getpid(), signal.SIGTERM)


async def _until_shared(settings: Settings, database: Database, stopping: asyncio.Event) -> None:
    """Claims nothing before it is known that others find what is made here; or until the stop."""
    looking = asyncio.create_task(_look_until_shared(settings, database))
    waiting = asyncio.create_task(stopping.wait())
    await asyncio.wait((looking, waiting), return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if looking.done():
        await looking
    looking.cancel()


async def _look_until_shared(settings: Settings, database: Database) -> None:
    """Raises BadSetting in a place of one's own; waits while that cannot be told."""
    place = FilePlace(database, Files(settings), system_clock)
    while True:
        try:
            await place.require_shared()
        except Refusal as refused:
            structlog.get_logger().warning("files not known as shared", reason=str(refused))
            await asyncio.sleep(_LOOK_AGAIN_S)
        else:
            return


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
