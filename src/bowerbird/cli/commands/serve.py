"""`serve`, `worker`, `migrate` and `version`."""

import asyncio
import dataclasses

import click

from bowerbird import __version__
from bowerbird.cli.context import (
    opened_library,
    print_migration,
    settings_from_environment,
    with_library,
)
from bowerbird.cli.serving import AdditionalProcesses, check_files, file_place, print_addresses
from bowerbird.settings import Settings
from bowerbird.settings.checks import MOST_WORKERS
from bowerbird.storage.database import Database
from bowerbird.storage.migrations import SchemaProblem
from bowerbird.storage.opening import explained
from bowerbird.storage.postgres import schema as postgres_schema
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
        applied = asyncio.run(postgres_schema.migrate(settings.database_url, waits=_say_it_waits))
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
