"""`serve`, `worker`, `migrate` and `version`."""

import asyncio
import dataclasses
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import click

from bowerbird import __version__
from bowerbird.cli.context import (
    LibraryContext,
    opened_library,
    settings_from_environment,
    with_library,
)
from bowerbird.cli.site_links import owner_link
from bowerbird.errors import Refusal
from bowerbird.library.exports.file_place import FilePlace
from bowerbird.library.sign_in.one_time_links import MINUTES
from bowerbird.settings import Settings
from bowerbird.storage.files.files import Files
from bowerbird.storage.migrations import SchemaProblem
from bowerbird.storage.opening import explained
from bowerbird.storage.postgres import schema as postgres_schema
from bowerbird.storage.sqlite import schema as sqlite_schema


@click.command()
@click.option("--host", help="Address to listen on.")
@click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on.")
@click.option(
    "--workers", type=click.IntRange(1, 64), help="Number of server processes. Use 1 with SQLite."
)
@click.option("--worker-number", type=int, default=0, hidden=True)
def serve(host: str | None, port: int | None, workers: int | None, worker_number: int) -> None:
    r"""Serve the library until Ctrl-C.

    \b
    Example:
      bowerbird serve --port 9000
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
    if worker_number:
        server.run(settings, worker_number)
        return
    server.require_free_port(settings)
    asyncio.run(_print_addresses(settings))
    with _additional_processes(settings.workers - 1, server.environment_for(settings)):
        server.run(settings)


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
            applied = sqlite_schema.prepare(settings.data_dir)
    else:
        applied = asyncio.run(postgres_schema.migrate(settings.database_url))
    for name in applied:
        click.echo(f"applied {name}")
    click.echo("The schema is up to date.")
    if files_moved:
        with_library(lambda opened: _place(opened).forget())
        click.echo("The next server or worker that starts records where it stores files.")


@click.command()
def version() -> None:
    r"""Print the version of this release.

    \b
    Example:
      bowerbird version
    """
    click.echo(__version__)


async def _print_addresses(settings: Settings) -> None:
    where = str(settings.data_dir) if settings.is_sqlite else "PostgreSQL"
    origin = settings.api_origin
    click.echo(f"Bowerbird is at {settings.site_origin}")
    click.echo(f"  Library  {where}")
    click.echo(f"  API      {origin}/v1")
    if settings.sandbox == "on":
        click.echo(f"  Sandbox  {origin}/v1/sandbox")
    click.echo(f"  Tools    {settings.tool_server}")
    click.echo(f"  Keys     {settings.register_url}")
    if settings.admin_port:
        click.echo(f"  Metrics  http://{settings.admin_host}:{settings.admin_port}/metrics")
    try:
        async with opened_library(settings) as opened:
            link = await owner_link(opened)
            await _check_files(opened)
    except SchemaProblem as problem:
        click.echo(f"Not ready: {problem}")
        return
    if link is not None:
        click.echo(
            f"To sign in as the owner, open this link within {MINUTES} minutes. It works once:"
        )
        click.echo(f"  {link}")


async def _require_shared_files(settings: Settings) -> None:
    async with opened_library(settings) as opened:
        await _check_files(opened)


async def _check_files(opened: LibraryContext) -> None:
    """Refuses to start a node whose files the other nodes cannot read.

    If the storage cannot be reached now, the node starts and the server checks again later.
    """
    if opened.settings.is_sqlite:
        return
    try:
        await _place(opened).require_shared()
    except Refusal as refusal:
        place = Files(opened.settings).place
        click.echo(f"Cannot check yet whether all nodes share the files in {place}: {refusal}")


def _place(opened: LibraryContext) -> FilePlace:
    return FilePlace(opened.database, Files(opened.settings), opened.clock)


@contextmanager
def _additional_processes(count: int, environment: dict[str, str]) -> Iterator[None]:
    """Runs more server processes; the kernel distributes connections among all of them.

    They stop when this process ends, and this process stops when one of them fails.
    """
    others = [_start(number, environment) for number in range(1, count + 1)]
    is_stopping = threading.Event()
    for process in others:
        threading.Thread(
            target=_stop_when_it_ends, args=(process, is_stopping), daemon=True
        ).start()
    try:
        yield
    finally:
        is_stopping.set()
        for process in others:
            process.send_signal(signal.SIGTERM)
        for process in others:
            process.wait()
    if any(process.returncode not in (0, -signal.SIGTERM) for process in others):
        raise click.ClickException(
            "A server process failed, so all were stopped. The log shows the reason."
        )


def _start(number: int, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "bowerbird", "serve", "--worker-number", str(number)]
    # Nothing is written to the pipe. The new process stops when the pipe closes, which happens
    # however this process ends.
    return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE)  # noqa: S603 - a fixed command


def _stop_when_it_ends(process: subprocess.Popen[bytes], is_stopping: threading.Event) -> None:
    process.wait()
    if not is_stopping.is_set():
        os.kill(os.getpid(), signal.SIGTERM)
