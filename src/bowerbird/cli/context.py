"""The library as a command uses it: opened, shared with a running server, closed again."""

import asyncio
import math
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

from bowerbird.cli.hints import hinted
from bowerbird.clock import Clock, system_clock
from bowerbird.errors import Refusal
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from bowerbird.storage.opening import open_database
from bowerbird.storage.postgres import schema as postgres_schema

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LibraryContext:
    settings: Settings
    database: Database
    clock: Clock


def settings_from_environment() -> Settings:
    return Settings.from_env(os.environ)


def with_library(work: Callable[[LibraryContext], Awaitable[T]]) -> T:
    """Runs `work` on the library that the settings name."""

    async def run() -> T:
        async with opened_library(settings_from_environment()) as opened:
            return await work(opened)

    try:
        return asyncio.run(run())
    except Refusal as refusal:
        raise hinted(refusal) from None


@asynccontextmanager
async def opened_library(settings: Settings) -> AsyncIterator[LibraryContext]:
    if not settings.is_sqlite:
        await postgres_schema.require_ready(settings.database_url)
    # A command reads a library once through: its memory stays small whatever the library's size,
    # and it may take its time.
    database = await open_database(settings, is_mapped=False, read_limit_s=math.inf)
    try:
        yield LibraryContext(settings, database, system_clock)
    finally:
        await database.close()
