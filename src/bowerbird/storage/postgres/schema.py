"""Migrates a PostgreSQL database under an advisory lock."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import asyncpg

from bowerbird.storage import migrations
from bowerbird.storage.migrations import Applied, Migration

# Any fixed number: the first eight bytes of "bowerbird" in ASCII.
_LOCK: Final = 0x626F776572626972
_CONNECT_LIMIT_S: Final = 5.0
# A step that waits for a table, behind a backup for example, stops all requests that need the table
# after it. So it gives up soon, lets them pass, and tries again for about 15 minutes.
_LIMIT_LOCKS: Final = "SET LOCAL lock_timeout = '1s'"
_PAUSE_S: Final = 2.0
_LOCK_TRIES: Final = 300
_BLOCKED: Final = (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError)
_ESCAPE: Final = ". In the URL, write an @ of the password as %40"
_JOURNAL: Final = """
CREATE TABLE IF NOT EXISTS schema_migration (
    number        bigint  NOT NULL PRIMARY KEY,
    checksum      text    NOT NULL,
    is_compatible boolean NOT NULL
)
"""


class PostgresSchema:
    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def applied(self) -> Sequence[Applied]:
        if not await self._connection.fetchval("SELECT to_regclass('schema_migration')"):
            return []
        rows = await self._connection.fetch(migrations.READ_APPLIED)
        return [Applied(*row) for row in rows]

    async def apply(self, migration: Migration) -> None:
        async with self._connection.transaction():
            await self._connection.execute(_LIMIT_LOCKS)
            await self._connection.execute(_JOURNAL)
            await self._connection.execute(migration.sql)
            await self._connection.execute(
                "INSERT INTO schema_migration VALUES ($1, $2, $3)",
                migration.number,
                migration.checksum,
                migration.is_compatible,
            )


async def found(url: str) -> tuple[str, bool, Sequence[Applied]]:
    """The server's version, whether it has the extension btree_gin, and the schema's steps.

    Raises SchemaProblem if the server is unreachable.
    """
    async with _connected(url) as connection:
        version = await connection.fetchval("SHOW server_version")
        has_extension = await connection.fetchval(
            "SELECT count(*) FROM pg_available_extensions WHERE name = 'btree_gin'"
        )
        return version, bool(has_extension), await PostgresSchema(connection).applied()


async def migrate(
    url: str,
    known: Sequence[Migration] | None = None,
    waits: Callable[[str], object] = lambda _: None,
) -> list[str]:
    """Any number of nodes may call this concurrently: one migrates, the others wait for it.

    Calls `waits` once with the name of a step that has to wait for another transaction.
    """
    known = migrations.available("postgres") if known is None else known
    async with _connected(url) as connection:
        await connection.execute("SELECT pg_advisory_lock($1)", _LOCK)
        schema = PostgresSchema(connection)
        steps = migrations.pending(known, await schema.applied())
        for step in steps:
            await _apply(schema, step, waits)
        return [step.name for step in steps]


async def _apply(schema: PostgresSchema, step: Migration, waits: Callable[[str], object]) -> None:
    for attempt in range(_LOCK_TRIES):
        try:
            await schema.apply(step)
        except _BLOCKED:
            if not attempt:
                waits(step.name)
            await asyncio.sleep(_PAUSE_S)
        else:
            return
    raise migrations.SchemaProblem(
        f"{step.name} could not lock its tables, because another transaction has used one of them "
        "all the time. End it, or wait for its end, and run again: bowerbird migrate"
    )


async def require_ready(url: str) -> None:
    """Raises a SchemaProblem unless the schema is one this release can work with."""
    async with _connected(url) as connection:
        applied = await PostgresSchema(connection).applied()
    if migrations.pending(migrations.available("postgres"), applied):
        raise migrations.SchemaProblem(
            "The PostgreSQL database has not been migrated. Run: bowerbird migrate"
        )


def unreachable(url: str, error: Exception) -> migrations.SchemaProblem:
    """Names the server and the database, but not the password that the URL may contain."""
    reason = str(error) or "no answer"
    try:
        parts = urlsplit(url)
    except ValueError:
        return migrations.SchemaProblem(f"PostgreSQL cannot be reached: {reason}")
    named = parse_qs(parts.query).get("host")
    host = named[0] if named else parts.netloc.rpartition("@")[2] or "the default address"
    database = f"the database {parts.path[1:]!r}" if parts.path[1:] else "the default database"
    hint = _ESCAPE if parts.netloc.count("@") > 1 else ""
    return migrations.SchemaProblem(
        f"PostgreSQL cannot be reached: {database} at {host}: {reason}{hint}"
    )


@asynccontextmanager
async def _connected(url: str) -> AsyncIterator[Any]:
    try:
        connection = await asyncpg.connect(url, timeout=_CONNECT_LIMIT_S)
    except (
        *(OSError, TimeoutError, ValueError),
        *(asyncpg.PostgresError, asyncpg.InterfaceError),
    ) as error:
        raise unreachable(url, error) from error
    try:
        yield connection
    except (asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise migrations.SchemaProblem(f"PostgreSQL refused: {error}") from error
    finally:
        await connection.close()
