"""Runs a server or worker process, with its log and admin port, until a signal stops it."""

import asyncio
import contextlib
import gc
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import structlog
import uvloop
from starlette.types import ASGIApp

from bowerbird import app, logs, telemetry
from bowerbird.app import App
from bowerbird.clock import system_clock
from bowerbird.errors import Refusal
from bowerbird.http1 import bounds, connection
from bowerbird.jobs.assembly import Searching, build_searching, build_worker, show_embedding
from bowerbird.jobs.worker import JobWatch, Recurring, Worker, keep_running
from bowerbird.library.exports.links import FilePlace
from bowerbird.library.upkeep.sweeping import SWEEP_EVERY_S
from bowerbird.model_build.catalogue import are_named, build_if_missing
from bowerbird.search.meaning.models import model_folder
from bowerbird.search.words.readings import READINGS
from bowerbird.settings import BadSetting, Settings
from bowerbird.storage.database import Database
from bowerbird.storage.files import Files, UploadFolders
from bowerbird.storage.opening import open_database
from bowerbird.toolserver.protocol.http_endpoint import ToolServer
from bowerbird.wire.metrics import RequestMetrics

if TYPE_CHECKING:
    from bowerbird.telemetry.traces import Traces

_RETRY_S: Final = 3.0
# Metrics are read by one or two programs.
_ADMIN_CONNECTIONS: Final = 16
_JOB_READ_LIMIT_S: Final = 30.0
_BACKLOG: Final = 1024

Announce = Callable[[Database], Awaitable[None]]


def run(
    settings: Settings,
    process: int = 0,
    *,
    runs_jobs: bool = True,
    announce: Announce | None = None,
) -> None:
    """Serves until SIGTERM or SIGINT, then finishes the current requests.

    `process` counts the server processes from 0; only the first one runs jobs. `announce` is
    called when the ports are bound, before the first request is answered.
    """
    runs_jobs = runs_jobs and process == 0
    READINGS.are_indexed = settings.japanese_readings == "on"
    with telemetry.started(settings) as traces:
        annotations = None if traces is None else traces.annotations
        logs.configure(settings.log_level, settings.log_format, annotations)
        uvloop.run(_serve(settings, process, announce, traces, runs_jobs=runs_jobs))


def run_worker(settings: Settings) -> None:
    """Runs jobs until SIGTERM or SIGINT, then puts unfinished ones back into the queue."""
    READINGS.are_indexed = settings.japanese_readings == "on"
    with telemetry.started(settings) as traces:
        annotations = None if traces is None else traces.annotations
        logs.configure(settings.log_level, settings.log_format, annotations)
        uvloop.run(_run_jobs(settings, traces))


def require_free_port(settings: Settings) -> None:
    """Raises BadSetting if the server cannot listen on the configured address."""
    _listener(settings).close()


def _listener(settings: Settings, *, is_shared: bool = False) -> socket.socket:
    """A socket on the configured address, which several processes of one server may share."""
    try:
        return _bound(settings.host, settings.port, is_shared=is_shared)
    except OSError as error:
        raise BadSetting(
            f"Cannot listen on {settings.host}:{settings.port}: {error.strerror}. Choose another "
            "one with --host and --port, or with BOWERBIRD_HOST and BOWERBIRD_PORT."
        ) from None


def _admin_listener(settings: Settings, port: int) -> socket.socket:
    try:
        return _bound(settings.admin_host, port)
    except OSError as error:
        raise BadSetting(
            f"Cannot listen on the admin port {port}: {error.strerror}. "
            "Set BOWERBIRD_ADMIN_PORT to another port, or to 0 to disable it."
        ) from None


def _bound(host: str, port: int, *, is_shared: bool = False) -> socket.socket:
    """A socket on the first IP address of a host."""
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if is_shared:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind((str(address[0]), port))
    except OSError:
        listener.close()
        raise
    return listener


async def _serve(
    settings: Settings,
    process: int,
    announce: Announce | None,
    traces: "Traces | None",
    *,
    runs_jobs: bool,
) -> None:
    stopping = _stop_signal()
    if process > 0:
        # The first process holds the other end of stdin, which closes however that process ends.
        asyncio.get_running_loop().add_reader(sys.stdin.fileno(), stopping.set)
    # Before the library is opened: a server that cannot listen must not create one.
    listener = _listener(settings, is_shared=process > 0 or settings.workers > 1)
    admin_listener = None
    if settings.admin_port:
        admin_listener = _admin_listener(settings, settings.admin_port + process)
    running = _running_app(settings, stopping, traces, runs_jobs=runs_jobs)
    async with running as (service, database):
        limits = bounds.of(settings)
        serving = []
        if admin_listener is not None:
            from bowerbird.wire import metrics as admin_port  # noqa: PLC0415 - takes 40 ms, and is optional

            metrics = admin_port.metrics_app(settings.admin_host, service.metrics.registry)
            few = msgspec.structs.replace(limits, max_connections=_ADMIN_CONNECTIONS)
            serving.append(_serve_http1(settings, metrics, admin_listener, few, stopping))
        if announce is not None:
            # Clients can connect once the addresses are printed; the answer follows in a moment.
            listener.listen(_BACKLOG)
            await announce(database)
        serving.append(_serve_http1(settings, service.asgi, listener, limits, stopping))
        if settings.tool_preload == "on":
            serving.append(_load_tools(service.tools))
        if process == 0:
            serving.append(_build_models(settings, stopping))
        await asyncio.gather(*serving)


async def _serve_http1(
    settings: Settings,
    asgi: ASGIApp,
    listener: socket.socket,
    limits: bounds.Bounds,
    stopping: asyncio.Event,
) -> None:
    await connection.serve(
        asgi,
        listener,
        limits,
        trusted_proxies=settings.trusted_proxies,
        upgrade_url=settings.upgrade_url,
        stopping=stopping,
        stop_timeout_s=settings.stop_timeout_s,
    )


async def _run_jobs(settings: Settings, traces: "Traces | None") -> None:
    stopping = _stop_signal()
    # No client waits for the statements of a job, and they read more than those of a request.
    database = await open_database(settings, read_limit_s=_JOB_READ_LIMIT_S)
    if traces is not None:
        traces.start()
    searching = build_searching(settings, database, system_clock)
    try:
        worker = build_worker(
            settings, database, Files(settings), system_clock, searching, traces=traces
        )
        async with _worker_metrics(settings, database, searching, worker, stopping):
            await _wait_for_shared_files(settings, database, stopping)
            await asyncio.gather(worker.run(stopping), _build_models(settings, stopping))
    finally:
        await searching.models.close()
        await database.close()


@contextlib.asynccontextmanager
async def _worker_metrics(
    settings: Settings,
    database: Database,
    searching: Searching,
    worker: Worker,
    stopping: asyncio.Event,
) -> AsyncIterator[None]:
    """Serves the metrics of a worker process, if it can listen on the admin port."""
    listener = None
    if settings.admin_port:
        try:
            listener = _admin_listener(settings, settings.admin_port)
        except BadSetting as error:
            # A server or worker on this machine may have the same settings. Jobs are more
            # important than their metrics.
            structlog.get_logger().warning("metrics_not_served", reason=str(error))
    if listener is None:
        yield
        return
    from bowerbird.wire import metrics as admin_port  # noqa: PLC0415 - takes 40 ms, and is optional

    metrics = RequestMetrics()
    metrics.registry.register(worker.metrics)
    show_embedding(metrics, searching.jobs)
    shown = admin_port.metrics_app(settings.admin_host, metrics.registry)
    few = msgspec.structs.replace(bounds.of(settings), max_connections=_ADMIN_CONNECTIONS)
    counting = asyncio.create_task(JobWatch(database, system_clock, metrics).keep_refreshing())
    serving = asyncio.create_task(_serve_http1(settings, shown, listener, few, stopping))
    try:
        yield
    finally:
        stopping.set()
        counting.cancel()
        await asyncio.wait((counting, serving))


def _stop_signal() -> asyncio.Event:
    stopping = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stopping.set)
    return stopping


def _log_migration(steps: Sequence[str], kept: Path) -> None:
    structlog.get_logger().info("library_migrated", steps=list(steps), kept=str(kept))


@contextlib.asynccontextmanager
async def _running_app(
    settings: Settings, stopping: asyncio.Event, traces: "Traces | None", *, runs_jobs: bool
) -> AsyncIterator[tuple[App, Database]]:
    await asyncio.to_thread(UploadFolders(settings.data_dir).delete_leftovers)
    database = await open_database(settings, report=_log_migration, reads_replica=True)
    job_database = None
    if runs_jobs and not settings.is_sqlite:
        # Jobs have connections of their own, so that requests never wait for theirs.
        job_database = await open_database(settings, read_limit_s=_JOB_READ_LIMIT_S)
    service = app.build(settings, database, system_clock, job_database=job_database, traces=traces)
    collected = (service.calls, service.uses, service.session_uses, service.key_uses)
    flushing = [asyncio.create_task(one.flushing.run()) for one in collected]
    sweeping = Recurring("sweep", SWEEP_EVERY_S, service.sweeping.sweep)
    tasks = [asyncio.create_task(keep_running(sweeping))]
    if settings.admin_port:
        tasks.append(asyncio.create_task(service.watch.keep_refreshing()))
    worker = service.worker if runs_jobs else None
    workers = []
    if not settings.is_sqlite:
        running = _work_on_shared_files(settings, database, worker, stopping)
        workers.append(asyncio.create_task(running))
    elif worker is not None:
        workers.append(asyncio.create_task(worker.run(stopping)))
    # What the start has built stays until the end. The collector need not look at it again.
    gc.collect()
    gc.freeze()
    try:
        yield service, database
    finally:
        stopping.set()
        for task in tasks:
            task.cancel()
        for one in collected:
            one.flushing.stop()
        await asyncio.wait((*tasks, *workers, *flushing))
        await service.file_imports.close()
        await service.mailed_links.close()
        await service.models.close()
        if job_database is not None:
            await job_database.close()
        await database.close()


async def _load_tools(tools: ToolServer) -> None:
    """Loads the MCP server while the service starts to listen, before most clients call it.

    Loading it first would more than double the time until the first answer.
    """
    await tools.load()
    structlog.get_logger().info("tools loaded")


async def _build_models(settings: Settings, stopping: asyncio.Event) -> None:
    """Builds the models of an installation that has none; a package cannot contain them."""
    if settings.embedding_url:
        return
    folder = model_folder(settings)
    if settings.model_build == "on" and not settings.model_dir:
        await build_if_missing(folder, stopping)
    elif not await asyncio.to_thread(are_named, folder):
        reason = (
            f"{folder} has no models for search by meaning. To build them, run: bowerbird model"
        )
        structlog.get_logger().warning("model_missing", reason=reason)


async def _work_on_shared_files(
    settings: Settings, database: Database, worker: Worker | None, stopping: asyncio.Event
) -> None:
    """Runs jobs as soon as the schema is ready and the files are known to be shared.

    Stops this node if its files are not shared with the other nodes.
    """
    try:
        await _wait_for_shared_files(settings, database, stopping)
    except BadSetting as error:
        structlog.get_logger().error("server_stopped", reason=str(error))
        os.kill(os.getpid(), signal.SIGTERM)
        return
    if worker is not None:
        await worker.run(stopping)


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
            # Jobs of this release must not run on the schema of another one.
            await database.require_ready()
            await place.require_shared()
        except Refusal as refusal:
            structlog.get_logger().warning("shared_files_check_failed", reason=str(refusal))
            await asyncio.sleep(_RETRY_S)
        else:
            return


def environment_for(settings: Settings) -> dict[str, str]:
    """The environment of an additional server process with the same settings."""
    return {
        **os.environ,
        "BOWERBIRD_HOST": settings.host,
        "BOWERBIRD_PORT": str(settings.port),
        "BOWERBIRD_WORKERS": "1",
    }
