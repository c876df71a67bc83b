"""`serve`, `worker`, `migrate` and `version`."""

import asyncio
import contextlib
import dataclasses
import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
from enum import Enum
from types import TracebackType
from typing import Final, Self

import click

from bowerbird import __version__
from bowerbird.cli.context import (
    LibraryContext,
    opened_library,
    owner_link,
    print_migration,
    settings_from_environment,
    with_library,
)
from bowerbird.clock import system_clock
from bowerbird.errors import Refusal
from bowerbird.library.exports.links import FilePlace
from bowerbird.library.sign_in.one_time_links import MINUTES
from bowerbird.settings import Settings
from bowerbird.settings.checks import MOST_WORKERS
from bowerbird.storage.database import Database
from bowerbird.storage.files import Files
from bowerbird.storage.migrations import SchemaProblem
from bowerbird.storage.opening import explained
from bowerbird.storage.sqlite import schema as sqlite_schema


@click.command()
@click.option("--host", help="Address to listen on.")
@click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on.")
@click.option(
    "--workers",
    type=click.IntRange(1, MOST_WORKERS),
    help="Number of server processes. On SQLite they take turns to write.",
)
@click.option(
    "--no-worker",
    is_flag=True,
    help="Run no background jobs here. PostgreSQL only: bowerbird worker must run elsewhere.",
)
@click.option("--worker-number", type=int, default=0, hidden=True)
def serve(
    host: str | None, port: int | None, workers: int | None, worker_number: int, *, no_worker: bool
) -> None:
    r"""Serve the library and run its background jobs until Ctrl-C.

    On SQLite, creates the library if the data folder has none. On PostgreSQL, run bowerbird migrate
    first.

    \b
    Example:
      bowerbird serve --port 9000
      BOWERBIRD_DATABASE_URL=postgresql://localhost/bowerbird bowerbird serve --workers 4
    """
    from bowerbird import server  # noqa: PLC0415 - slow to import, and only needed here

    configured = settings_from_environment()
    settings = dataclasses.replace(
        configured,
        host=host or configured.host,
        port=port or configured.port,
        workers=workers or configured.workers,
    )
    settings.check()
    if no_worker and settings.is_sqlite:
        raise click.UsageError(
            "--no-worker needs PostgreSQL: only the server can run the jobs of a SQLite library."
        )
    if worker_number:
        server.run(settings, worker_number)
        return
    if settings.is_sqlite:
        sqlite_schema.require_content(settings.data_dir)
    server.require_free_port(settings)
    with AdditionalProcesses(settings.workers - 1, server.environment_for(settings)) as others:

        async def announce(database: Database) -> None:
            await print_addresses(settings, database, runs_jobs=not no_worker)
            others.start()

        server.run(settings, runs_jobs=not no_worker, announce=announce)


@click.command()
def worker() -> None:
    r"""Run background jobs until Ctrl-C.

    You can run any number of workers, on any number of machines.

    \b
    Example:
      bowerbird worker
    """
    from bowerbird import server  # noqa: PLC0415 - slow to import, and only needed here

    settings = settings_from_environment()
    if settings.is_sqlite:
        raise click.ClickException(
            "A SQLite library needs no worker: bowerbird serve runs its jobs."
        )
    asyncio.run(_require_shared_files(settings))
    click.echo("Running background jobs.")
    server.run_worker(settings)


@click.command()
@click.option(
    "--files-moved", is_flag=True, help="The files have moved; let the next start record where."
)
def migrate(*, files_moved: bool) -> None:
    r"""Update the database schema to this release.

    \b
    Example:
      BOWERBIRD_DATABASE_URL=postgresql://localhost/bowerbird bowerbird migrate
    """
    settings = settings_from_environment()
    if settings.is_sqlite:
        with explained(settings.data_dir):
            applied = sqlite_schema.prepare(settings.data_dir, report=print_migration)
    else:
        from bowerbird.storage.postgres import schema  # noqa: PLC0415 - its driver is slow to import

        applied = asyncio.run(schema.migrate(settings.database_url, waits=_say_it_waits))
    for name in applied:
        click.echo(f"applied {name}")
    click.echo("The schema is up to date.")
    if files_moved:
        with_library(lambda opened: file_place(opened).forget(), may_create=True)
        click.echo("The next server or worker that starts records where it stores files.")


@click.command()
def version() -> None:
    r"""Print the version of this release.

    \b
    Example:
      bowerbird version
    """
    click.echo(__version__)


def _say_it_waits(step: str) -> None:
    click.echo(
        f"{step} waits for another transaction, such as a backup. Requests are still answered.",
        err=True,
    )


async def _require_shared_files(settings: Settings) -> None:
    """If the database is away or not migrated, the worker starts and waits, as the server does."""
    try:
        async with opened_library(settings) as opened:
            await check_files(opened)
    except SchemaProblem as problem:
        click.echo(f"Not ready: {problem}")


async def print_addresses(settings: Settings, database: Database, *, runs_jobs: bool) -> None:
    """Raises BadSetting, and prints nothing, if this node may not serve."""
    opened = LibraryContext(settings, database, system_clock)
    problem, link = "", None
    try:
        if not settings.is_sqlite:
            from bowerbird.storage.postgres import schema  # noqa: PLC0415 - its driver is slow to import

            await schema.require_ready(settings.database_url)
        link = await owner_link(opened)
        await check_files(opened)
    except (SchemaProblem, Refusal) as error:
        problem = str(error)
    origin = settings.api_origin
    click.echo(f"Bowerbird is at {settings.site_origin}")
    click.echo(f"  Library  {settings.data_dir if settings.is_sqlite else 'PostgreSQL'}")
    click.echo(f"  API      {origin}/v1")
    if settings.sandbox == "on":
        click.echo(f"  Sandbox  {origin}/v1/sandbox")
    click.echo(f"  Tools    {settings.tool_server}")
    click.echo(f"  Keys     {settings.register_url}")
    if settings.admin_port:
        click.echo(f"  Metrics  http://{settings.admin_host}:{settings.admin_port}/metrics")
    if not runs_jobs:
        click.echo("  Jobs     not run by this server; start bowerbird worker")
    if problem:
        click.echo(f"Not ready: {problem}")
        click.echo("The link for the owner is printed at the next start.")
    if link is not None:
        click.echo(
            f"To sign in as the owner, open this link within {MINUTES} minutes. It works once:"
        )
        click.echo(f"  {link}")


async def check_files(opened: LibraryContext) -> None:
    """Refuses to start a node whose files the other nodes cannot read.

    If the storage cannot be reached now, the node starts and the server checks again later.
    """
    if opened.settings.is_sqlite:
        return
    try:
        await file_place(opened).require_shared()
    except Refusal as refusal:
        place = Files(opened.settings).place
        click.echo(f"Cannot check yet whether all nodes share the files in {place}: {refusal}")


def file_place(opened: LibraryContext) -> FilePlace:
    return FilePlace(opened.database, Files(opened.settings), opened.clock)


class AdditionalProcesses:
    """They stop when this process ends, and this process stops when one of them fails."""

    def __init__(self, count: int, environment: dict[str, str]) -> None:
        self._count, self._environment = count, environment
        self._processes: list[subprocess.Popen[bytes]] = []
        self._is_stopping = threading.Event()

    def start(self) -> None:
        for number in range(1, self._count + 1):
            process = _started(number, self._environment)
            self._processes.append(process)
            threading.Thread(target=self._stop_when_it_ends, args=(process,), daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_stopping.set()
        for process in self._processes:
            process.send_signal(signal.SIGTERM)
        for process in self._processes:
            process.wait()
        has_failed = any(one.returncode not in (0, -signal.SIGTERM) for one in self._processes)
        if error is None and has_failed:
            raise click.ClickException(
                "A server process failed, so all were stopped. The log shows the reason."
            )

    def _stop_when_it_ends(self, process: subprocess.Popen[bytes]) -> None:
        process.wait()
        if not self._is_stopping.is_set():
            os.kill(os.getpid(), signal.SIGTERM)


def _started(number: int, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "bowerbird", "serve", "--worker-number", str(number)]
    # Nothing is written to the pipe. The new process stops when the pipe closes, which happens
    # however this process ends.
    return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE)  # noqa: S603 - a fixed command


_PROBE_TIMEOUT_S: Final = 2
# Text that identifies our own response at each path.
_OUR_RESPONSES: Final = {"/v1/bookmarks": b'"UNAUTHORIZED"', "/metrics": b"bowerbird_"}


class Port(Enum):
    FREE = "is free"
    OURS = "is served by bowerbird"
    OTHER_PROGRAM = "is used by another program"
    UNUSABLE = "is not an address of this machine, or this user may not listen on it"


def port_state(host: str, port: int, path: str) -> Port:
    """Tries to listen. If a program already does, requests `path` from it to identify it."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError:
        return Port.UNUSABLE
    with socket.socket(family, kind) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
            probe.listen()
        except PermissionError:
            return Port.UNUSABLE
        except OSError:
            return _identify_listener(host, port, path)
    return Port.FREE


def _identify_listener(host: str, port: int, path: str) -> Port:
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared only
    with contextlib.closing(
        http.client.HTTPConnection(reachable, port, timeout=_PROBE_TIMEOUT_S)
    ) as connection:
        try:
            connection.request("GET", path)
            body = connection.getresponse().read(1 << 20)
        except ConnectionRefusedError:
            return Port.UNUSABLE
        except (OSError, http.client.HTTPException):
            return Port.OTHER_PROGRAM
    return Port.OURS if _OUR_RESPONSES[path] in body else Port.OTHER_PROGRAM
