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
from bowerbird.errors import Refusal
from bowerbird.library.exports.file_place import FilePlace
from bowerbird.settings import Settings
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.files.files import Files
from bowerbird.storage.migrations import SchemaProblem
from bowerbird.storage.opening import explained
from bowerbird.storage.postgres import schema as postgres_schema
from bowerbird.storage.sqlite import schema as sqlite_schema


@click.command()
@click.option("--host", help="Address to listen on.")
@click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on.")
@click.option("--workers", type=click.IntRange(1, 64), help="Server processes; 1 fits SQLite.")
@click.option("--worker-number", type=int, default=0, hidden=True)
def serve(host: str | None, port: int | None, workers: int | None, worker_number: int) -> None:
    r"""Serve the library until Ctrl-C.

    \b
    Example:
      bowerbird serve --port 9000
    """
    from bowerbird import server  # noqa: PLC0415 - the other commands need no server

    known = settings_from_environment()
    settings = dataclasses.replace(
        known,
        host=host or known.host,
        port=port or known.port,
        workers=workers or known.workers,
    )
    settings.check()
    if worker_number:
        server.run(settings, worker_number)
        return
    server.require_free_port(settings)
    asyncio.run(_greet(settings))
    with _further_processes(settings.workers - 1, server.environment_for(settings)):
        server.run(settings)


@click.command()
def worker() -> None:
    r"""Run background jobs beside the servers, until Ctrl-C.

    Any number of workers may run, on any number of machines.

    \b
    Example:
      bowerbird worker
    """
    from bowerbird import server  # noqa: PLC0415 - the other commands need no server

    settings = settings_from_environment()
    if settings.is_sqlite:
        raise click.ClickException(
            "A SQLite library needs no worker of its own: bowerbird serve does its jobs."
        )
    asyncio.run(_require_shared_files(settings))
    click.echo("Working on background jobs.")
    server.run_worker(settings)


@click.command()
@click.option("--files-moved", is_flag=True, help="Let the next start say where files are kept.")
def migrate(*, files_moved: bool) -> None:
    r"""Bring the database to this release's schema.

    \b
    Example:
      BOWERBIRD_DATABASE_URL=postgresql://localhost/bowerbird bowerbird migrate
    """
    settings = settings_from_environment()
    if settings.is_sqlite:
        with explained(settings.data_dir):
            done = sqlite_schema.prepare(settings.data_dir)
    else:
        done = asyncio.run(postgres_schema.migrate(settings.database_url))
    for name in done:
        click.echo(f"applied {name}")
    click.echo("The schema is current.")
    if files_moved:
        with_library(lambda opened: _place(opened).forget())
        click.echo("The next start says where files are kept.")


@click.command()
def version() -> None:
    r"""Print the release.

    \b
    Example:
      bowerbird version
    """
    click.echo(__version__)


async def _greet(settings: Settings) -> None:
    where = str(settings.data_dir) if settings.is_sqlite else "PostgreSQL"
    origin = settings.api_origin
    click.echo(f"Library in {where}")
    click.echo(f"  API      {origin}/v1")
    if settings.sandbox == "on":
        click.echo(f"  Sandbox  {origin}/v1/sandbox")
    click.echo(f"  Tools    {settings.tool_server}")
    click.echo(f"  Keys     {settings.register_url}")
    command = sys.argv[0] if sys.argv[0].endswith("bowerbird") else "bowerbird"
    try:
        async with opened_library(settings) as opened:
            is_new = not await AccountStore(opened.database).count()
            await _check_files(opened)
    except SchemaProblem as problem:
        click.echo(f"Not ready: {problem}")
        return
    if is_new:
        click.echo("Get a first key, in another terminal:")
        click.echo(f"  {command} account create you@example.com")
        click.echo(f"  {command} key create you@example.com")


async def _require_shared_files(settings: Settings) -> None:
    async with opened_library(settings) as opened:
        await _check_files(opened)


async def _check_files(opened: LibraryContext) -> None:
    """Refuses a node that keeps files where no other looks; the server looks again later."""
    if opened.settings.is_sqlite:
        return
    try:
        await _place(opened).require_shared()
    except Refusal as refused:
        place = Files(opened.settings).place
        click.echo(f"Not known yet whether all nodes share their files in {place}: {refused}")


def _place(opened: LibraryContext) -> FilePlace:
    return FilePlace(opened.database, Files(opened.settings), opened.clock)


@contextmanager
def _further_processes(count: int, environment: dict[str, str]) -> Iterator[None]:
    """Server processes beside this one; the kernel shares connections out between them.

    All stop together: this process when one of them fails, they when this process ends.
    """
    others = [_start(number, environment) for number in range(1, count + 1)]
    is_stopping = threading.Event()
    for process in others:
        threading.Thread(target=_follow, args=(process, is_stopping), daemon=True).start()
    try:
        yield
    finally:
        is_stopping.set()
        for process in others:
            process.send_signal(signal.SIGTERM)
        for process in others:
            process.wait()
    if any(process.returncode not in (0, -signal.SIGTERM) for process in others):
        raise click.ClickException("A server process failed; the log says why. All were stopped.")


def _start(number: int, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "bowerbird", "serve", "--worker-number", str(number)]
    # Nothing is ever written to the pipe; its end tells that this process is gone.
    return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE)  # noqa: S603 - our own command


def _follow(process: subprocess.Popen[bytes], is_stopping: threading.Event) -> None:
    process.wait()
    if not is_stopping.is_set():
        os.kill(os.getpid(), signal.SIGTERM)
