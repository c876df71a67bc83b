"""Migrates a PostgreSQL database under an advisory lock."""

from collections.abc import Sequence
from typing import Any, Final

import asyncpg

from bowerbird.storage import migrations
from bowerbird.storage.migrations import Applied, Migration

# Any fixed number: the first eight bytes of "bowerbird" in ASCII.
_LOCK: Final = 0x626F776572626972
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
        rows = await self._connection.fetch(
            "SELECT number, checksum, is_compatible FROM schema_migration ORDER BY number"
        )
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


async def migrate(url: str) -> list[str]:
    """Any number of nodes may call this at once: one migrates, the others wait for it."""
    connection = await asyncpg.connect(url, timeout=5)
    try:
        await connection.execute("SELECT pg_advisory_lock($1)", _LOCK)
        schema = PostgresSchema(connection)
        steps = migrations.pending(migrations.available("postgres"), await schema.applied())
        for step in steps:
            await schema.apply(step)
        return [step.name for step in steps]
    finally:
        await connection.close()


async def require_ready(url: str) -> None:
    """Raises a SchemaProblem unless the schema is one this release can work with."""
    try:
        connection = await asyncpg.connect(url, timeout=5)
    except (OSError, TimeoutError, asyncpg.PostgresError) as error:
        raise migrations.SchemaProblem(f"PostgreSQL cannot be reached: {error}") from None
    try:
        applied = await PostgresSchema(connection).applied()
    finally:
        await connection.close()
    if migrations.pending(migrations.available("postgres"), applied):
        raise migrations.SchemaProblem(
            "The PostgreSQL database has not been migrated. Run: bowerbird migrate"
        )
