"""Opens the library for a command, also while a server uses it, and closes it afterwards."""

import asyncio
import math
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import click

from bowerbird.cli.existing_library import require_library
from bowerbird.cli.suggested_commands import with_suggestion
from bowerbird.clock import Clock, system_clock
from bowerbird.errors import Refusal
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from bowerbird.storage.opening import open_database

T = TypeVar("T")

# A command waits longer for other writers than a request does, but not forever.
_WRITE_WAIT_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class LibraryContext:
    settings: Settings
    database: Database
    clock: Clock


def settings_from_environment() -> Settings:
    return Settings.from_env(os.environ)


def with_library(work: Callable[[LibraryContext], Awaitable[T]], *, may_create: bool = False) -> T:
    """Runs `work` with the library that the environment variables configure.

    Few commands may create a library. The others would hide that they run in the wrong folder.
    """
    settings = settings_from_environment()
    if not may_create:
        require_library(settings)

    async def run() -> T:
        async with opened_library(settings) as opened:
            return await work(opened)

    try:
        return asyncio.run(run())
    except Refusal as refusal:
        raise with_suggestion(refusal) from None


def print_migration(steps: Sequence[str], kept: Path) -> None:
    """On stderr, because other programs read what a listing prints."""
    count = "1 step" if len(steps) == 1 else f"{len(steps)} steps"
    click.echo(
        f"Migrated the library to this release ({count}). The database as it was before is kept "
        f"as {kept}.",
        err=True,
    )


@asynccontextmanager
async def opened_library(settings: Settings) -> AsyncIterator[LibraryContext]:
    if not settings.is_sqlite:
        from bowerbird.storage.postgres import schema  # noqa: PLC0415 - its driver is slow to import

        await schema.require_ready(settings.database_url)
    # Some commands read the whole library. Without memory mapping that takes little memory, and
    # without a time limit it may take long: no client waits for it.
    database = await open_database(
        settings,
        is_mapped=False,
        read_limit_s=math.inf,
        write_wait_s=_WRITE_WAIT_S,
        report=print_migration,
    )
    try:
        yield LibraryContext(settings, database, system_clock)
    finally:
        await database.close()
