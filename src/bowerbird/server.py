"""Runs a server or worker process, with its log and admin port, until a signal stops it."""

import asyncio
import contextlib
import gc
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from typing import Final

import msgspec
import structlog
import uvloop
from starlette.types import ASGIApp

from bowerbird import app, logs
from bowerbird.app import App
from bowerbird.clock import system_clock
from bowerbird.errors import Refusal
from bowerbird.http1 import bounds, server
from bowerbird.jobs.assembly import build_searching, build_worker
from bowerbird.library.exports.file_place import FilePlace
from bowerbird.settings import BadSetting, Settings
from bowerbird.storage.database import Database
from bowerbird.storage.files.files import Files
from bowerbird.storage.files.uploads import UploadFolders
from bowerbird.storage.opening import open_database
from bowerbird.toolserver.protocol.http_endpoint import ToolServer

_RETRY_S: Final = 3.0
# Metrics are read by one or two programs.
_ADMIN_CONNECTIONS: Final = 16
_JOB_READ_LIMIT_S: Final = 30.0


def run(settings: Settings, worker: int = 0) -> None:
    """Serves until SIGTERM or SIGINT, then finishes the current requests."""
    logs.configure(settings.log_level)
    uvloop.run(_serve(settings, worker))


def run_worker(settings: Settings) -> None:
    """Runs jobs until SIGTERM or SIGINT, then puts unfinished ones back into the queue."""
    logs.configure(settings.log_level)
    uvloop.run(_run_jobs(settings))


def require_free_port(settings: Settings) -> None:
    """Raises BadSetting if the server cannot listen on the configured address."""
    family, address = _address(settings)
    for port in filter(None, (settings.port, settings.http2_port)):
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((address, port))
            except OSError as error:
                raise _cannot_listen(settings, port, error) from None


def _address(settings: Settings) -> tuple[socket.AddressFamily, str]:
    """The first IP address of the configured host."""
    try:
        found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise _cannot_listen(settings, settings.port, error) from None
    family, _, _, _, address = found[0]
    return family, str(address[0])


def _cannot_listen(settings: Settings, port: int, error: OSError) -> BadSetting:
    if port == settings.http2_port:
        advice = "Set BOWERBIRD_HTTP2_PORT to another port, or to 0 to turn HTTP/2 off."
    else:
        advice = "Choose another address with --host and --port."
    return BadSetting(f"Cannot listen on {settings.host}:{port}: {error.strerror}. {advice}")


async def _serve(settings: Settings, worker: int) -> None:
    stopping = _stop_signal()
    if worker > 0:
        # The first process holds the other end of stdin, which closes however that process ends.
        asyncio.get_running_loop().add_reader(sys.stdin.fileno(), stopping.set)
    runs_jobs = settings.is_sqlite and worker == 0
    async with _running_app(settings, stopping, runs_jobs=runs_jobs) as service:
        limits = bounds.of(settings)
        listener = _listener(settings)
        serving = []
        if settings.admin_port:
            from bowerbird.wire import admin_port  # noqa: PLC0415 - takes 40 ms, and is optional

            metrics = admin_port.metrics_app(settings.admin_host, service.metrics.registry)
            admin_listener = _admin_listener(settings, settings.admin_port + worker)
            few = msgspec.structs.replace(limits, max_connections=_ADMIN_CONNECTIONS)
            serving.append(_serve_http1(settings, metrics, admin_listener, few, stopping))
        serving.append(_serve_http1(settings, service.asgi, listener, limits, stopping))
        if settings.http2_port:
            from bowerbird import http2  # noqa: PLC0415 - optional, and slow to import

            serving.append(
                http2.serve(
                    service.asgi,
                    _address(settings)[1],
                    settings.http2_port,
                    stopping=stopping,
                    stop_timeout_s=settings.stop_timeout_s,
                )
            )
        if settings.tool_preload == "on":
            serving.append(_load_tools(service.tools))
        await asyncio.gather(*serving)


async def _serve_http1(
    settings: Settings,
    asgi: ASGIApp,
    listener: socket.socket,
    limits: bounds.Bounds,
    stopping: asyncio.Event,
) -> None:
    await server.serve(
        asgi,
        listener,
        limits,
        upgrade_url=settings.upgrade_url,
        stopping=stopping,
        stop_timeout_s=settings.stop_timeout_s,
    )


def _listener(settings: Settings) -> socket.socket:
    """A socket on the configured address, which several server processes may share."""
    family, address = _address(settings)
    listener = socket.socket(family)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind((address, settings.port))
    except OSError as error:
        listener.close()
        raise _cannot_listen(settings, settings.port, error) from None
    return listener


async def _run_jobs(settings: Settings) -> None:
    stopping = _stop_signal()
    # No client waits for the statements of a job, and they read more than those of a request.
    database = await open_database(settings, read_limit_s=_JOB_READ_LIMIT_S)
    searching = build_searching(settings, database, system_clock)
    try:
        worker = build_worker(settings, database, Files(settings), system_clock, searching)
        await _wait_for_shared_files(settings, database, stopping)
        await worker.run(stopping)
    finally:
        await searching.models.close()
        await database.close()


def _stop_signal() -> asyncio.Event:
    stopping = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stopping.set)
    return stopping


@contextlib.asynccontextmanager
async def _running_app(
    settings: Settings, stopping: asyncio.Event, *, runs_jobs: bool
) -> AsyncIterator[App]:
    await asyncio.to_thread(UploadFolders(settings.data_dir).delete_leftovers)
    database = await open_database(settings)
    service = app.build(settings, database, system_clock)
    collected = (service.calls, service.uses, service.session_uses, service.key_uses)
    flushing = [asyncio.create_task(one.flushing.run()) for one in collected]
    tasks = [asyncio.create_task(service.sweeping.keep_sweeping())]
    if settings.admin_port:
        tasks.append(asyncio.create_task(service.watch.keep_refreshing()))
    if not settings.is_sqlite:
        tasks.append(asyncio.create_task(_stop_unless_files_are_shared(settings, database)))
    workers = [asyncio.create_task(service.worker.run(stopping))] if runs_jobs else []
    # What the start has built stays until the end. The collector need not look at it again.
    gc.collect()
    gc.freeze()
    try:
        yield service
    finally:
        stopping.set()
        for task in tasks:
            task.cancel()
        for one in collected:
            one.flushing.stop()
        await asyncio.wait((*tasks, *workers, *flushing))
        await service.file_imports.close()
        await service.models.close()
        await database.close()


async def _load_tools(tools: ToolServer) -> None:
    """Loads the MCP server while the service starts to listen, before most clients call it.

    Loading it first would more than double the time until the first answer.
    """
    await tools.load()
    structlog.get_logger().info("tools loaded")


async def _stop_unless_files_are_shared(settings: Settings, database: Database) -> None:
    """Stops this node if its files turn out not to be shared with the other nodes."""
    try:
        await _require_shared_files(settings, database)
    except BadSetting as error:
        structlog.get_logger().error("server_stopped", reason=str(error))
        os.kill(os.getpid(), signal.SIGTERM)


async def _wait_for_shared_files(
    settings: Settings, database: Database, stopping: asyncio.Event
) -> None:
    """Returns when the files are known to be shared, or when the worker is stopped.

    Before that a worker must not claim a job, because other nodes may not find its results.
    """
    checking = asyncio.create_task(_require_shared_files(settings, database))
    waiting = asyncio.create_task(stopping.wait())
    await asyncio.wait((checking, waiting), return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if checking.done():
        await checking
    checking.cancel()


async def _require_shared_files(settings: Settings, database: Database) -> None:
    """Raises BadSetting if the files are not shared; retries while it cannot find out."""
    place = FilePlace(database, Files(settings), system_clock)
    while True:
        try:
            await place.require_shared()
        except Refusal as refusal:
            structlog.get_logger().warning("shared_files_check_failed", reason=str(refusal))
            await asyncio.sleep(_RETRY_S)
        else:
            return


def _admin_listener(settings: Settings, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(settings.admin_host, port, type=socket.SOCK_STREAM)
        family, _, _, _, address = found[0]
        listener = socket.socket(family)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((str(address[0]), port))
        except OSError:
            listener.close()
            raise
    except OSError as error:
        raise BadSetting(
            f"Cannot listen on the admin port {port}: {error.strerror}. "
            "Set BOWERBIRD_ADMIN_PORT to another port, or to 0 to disable it."
        ) from None
    return listener


def environment_for(settings: Settings) -> dict[str, str]:
    """The environment of an additional server process with the same settings."""
    return {
        **os.environ,
        "BOWERBIRD_HOST": settings.host,
        "BOWERBIRD_PORT": str(settings.port),
        "BOWERBIRD_WORKERS": "1",
    }
