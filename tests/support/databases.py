"""Fresh, migrated databases of both kinds, copied from a template that is created once."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from bowerbird.storage.database import Database
from bowerbird.storage.postgres import schema as postgres_schema
from bowerbird.storage.postgres.database import Limits, PostgresDatabase, open_pool
from bowerbird.storage.sqlite import schema as sqlite_schema
from bowerbird.storage.sqlite.database import FILE_NAME, SqliteDatabase
from tests.support.engines import external_postgres
from tests.support.engines.external_postgres import ARE_STATEMENTS_NAMED, ExternalPostgres
from tests.support.postgres import ThrowawayPostgres

TEMPLATE = "migrated"
_FILLED_TEMPLATE = "filled"

Fill = Callable[[Database], Awaitable[object]]
# A busy machine is no reason to refuse a call, unless a test is about the limits.
_PATIENT = Limits(wait_s=20, lock_s=20, statement_s=20)
_WRITE_WAIT_S = 20


@contextmanager
def postgres_server() -> Iterator[ThrowawayPostgres]:
    with ExternalPostgres() if external_postgres.URL else ThrowawayPostgres() as server:
        create_template(server)
        yield server


def create_template(server: ThrowawayPostgres) -> None:
    server.create_template(TEMPLATE, _migrate)


def _migrate(url: str) -> None:
    _run(lambda: postgres_schema.migrate(url))


def _run(work: Callable[[], Coroutine[Any, Any, object]]) -> None:
    # On a thread, because pytest may request a fixture while an event loop runs on this one.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(work())).result()


def sqlite_template(folder: Path) -> Path:
    sqlite_schema.prepare(folder)
    return folder / FILE_NAME


def sqlite_with(fill: Fill, template: Path, folder: Path) -> Path:
    """Another template: a copy of this one after `fill`."""

    async def filled() -> None:
        async with fresh_sqlite(template, folder) as database:
            await fill(database)

    _run(filled)
    return folder / FILE_NAME


def postgres_with(fill: Fill, server: ThrowawayPostgres) -> str:
    """The name of another template: a copy of the migrated one after `fill`."""

    async def filled(url: str) -> None:
        database = await _opened(url, _PATIENT)
        await fill(database)
        await database.close()

    server.create_template(
        _FILLED_TEMPLATE, lambda url: _run(lambda: filled(url)), template=TEMPLATE
    )
    return _FILLED_TEMPLATE


async def _opened(url: str, limits: Limits) -> PostgresDatabase:
    pool = await open_pool(url, 4, limits, are_statements_named=ARE_STATEMENTS_NAMED)
    return PostgresDatabase(pool, limits)


def _opened_sqlite(folder: Path) -> SqliteDatabase:
    database = SqliteDatabase(folder, write_wait_s=_WRITE_WAIT_S)
    # Waiting for the disk is most of what a write takes. Without it, as on PostgreSQL in the tests,
    # only a machine that loses its power loses anything.
    database._writer._connection.execute("PRAGMA synchronous = OFF")  # noqa: SLF001 - see above
    return database


@asynccontextmanager
async def fresh_sqlite(template: Path, folder: Path) -> AsyncIterator[Database]:
    shutil.copy(template, folder / FILE_NAME)
    database = _opened_sqlite(folder)
    try:
        yield database
    finally:
        await database.close()


@asynccontextmanager
async def fresh_postgres(
    server: ThrowawayPostgres, limits: Limits | None = None, *, template: str = TEMPLATE
) -> AsyncIterator[Database]:
    with server.fresh_database(template) as url:
        limits = limits or _PATIENT
        database = await _opened(url, limits)
        try:
            yield database
        finally:
            await database.close()


@asynccontextmanager
async def two_of_sqlite(template: Path, folder: Path) -> AsyncIterator[tuple[Database, Database]]:
    """One library, opened twice, as two processes would."""
    async with fresh_sqlite(template, folder) as first:
        second = _opened_sqlite(folder)
        try:
            yield first, second
        finally:
            await second.close()


@asynccontextmanager
async def two_of_postgres(server: ThrowawayPostgres) -> AsyncIterator[tuple[Database, Database]]:
    with server.fresh_database(TEMPLATE) as url:
        opened = [await _opened(url, _PATIENT) for _ in range(2)]
        try:
            yield opened[0], opened[1]
        finally:
            for database in opened:
                await database.close()
