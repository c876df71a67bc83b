"""Migrates a PostgreSQL database under an advisory lock."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import asyncpg

from bowerbird.storage import migrations
from bowerbird.storage.migrations import Applied, Migration

# Any fixed number: the first eight bytes of "bowerbird" in ASCII.
_LOCK: Final = 0x626F776572626972
_CONNECT_LIMIT_S: Final = 5.0
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
            await self._connection.execute(_JOURNAL)
            await self._connection.execute(migration.sql)
            await self._connection.execute(
                "INSERT INTO schema_migration VALUES ($1, $2, $3)",
                migration.number,
                migration.checksum,
                migration.is_compatible,
            )


async def migrate(url: str, known: Sequence[Migration] | None = None) -> list[str]:
    """Any number of nodes may call this concurrently: one migrates, the others wait for it."""
    known = migrations.available("postgres") if known is None else known
    async with _connected(url) as connection:
        await connection.execute("SELECT pg_advisory_lock($1)", _LOCK)
        schema = PostgresSchema(connection)
        steps = migrations.pending(known, await schema.applied())
        for step in steps:
            await schema.apply(step)
        return [step.name for step in steps]


async def require_ready(url: str) -> None:
    """Raises a SchemaProblem unless the schema is one this release can work with."""
    async with _connected(url) as connection:
        applied = await PostgresSchema(connection).applied()
    if migrations.pending(migrations.available("postgres"), applied):
        raise migrations.SchemaProblem(
            "The PostgreSQL database has not been migrated. Run: bowerbird migrate"
        )


@asynccontextmanager
async def _connected(url: str) -> AsyncIterator[Any]:
    try:
        connection = await asyncpg.connect(url, timeout=_CONNECT_LIMIT_S)
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        reason = str(error) or "no answer"
        raise migrations.SchemaProblem(f"PostgreSQL cannot be reached: {reason}") from error
    try:
        yield connection
    except (asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise migrations.SchemaProblem(f"PostgreSQL refused: {error}") from error
    finally:
        await connection.close()
