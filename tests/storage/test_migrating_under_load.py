"""A migration of PostgreSQL that has to wait for a table does not stop the nodes that use it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest

from bowerbird.storage.migrations import SchemaProblem
from bowerbird.storage.postgres import schema as postgres_schema
from tests.support.engines.migrating import later_steps, query_postgres
from tests.support.postgres import ThrowawayPostgres
from tests.support.waiting import until

pytestmark = pytest.mark.anyio

WAITING = "SELECT 1 FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'"
COLOURS = "SELECT count(*) FROM information_schema.columns WHERE column_name = 'colour'"


@asynccontextmanager
async def read_by_a_backup(url: str) -> AsyncIterator[None]:
    """Like pg_dump, which keeps the locks of everything it has read."""
    connection: Any = await asyncpg.connect(url)
    try:
        async with connection.transaction():
            await connection.fetch("SELECT count(*) FROM label")
            yield
    finally:
        await connection.close()


async def is_waiting(url: str) -> Sequence[Any]:
    return await query_postgres(url, WAITING)


async def test_requests_pass_a_migration_waiting_for_a_backup(postgres: ThrowawayPostgres) -> None:
    waited: list[str] = []
    with postgres.fresh_database("migrated") as url:
        async with read_by_a_backup(url):
            migrating = asyncio.create_task(
                postgres_schema.migrate(url, later_steps("postgres"), waited.append)
            )
            await until(lambda: is_waiting(url))
            async with asyncio.timeout(120):
                await query_postgres(url, "SELECT count(*) FROM label")
                await query_postgres(url, "UPDATE label SET name = name")
            assert await query_postgres(url, COLOURS) == [(0,)]
        await migrating

        assert await query_postgres(url, COLOURS) == [(1,)]
    # Once per step, however often it tries.
    assert waited == [later_steps("postgres")[-2].name]


async def test_a_migration_that_never_gets_its_lock_says_so(
    postgres: ThrowawayPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_schema, "_LOCK_TRIES", 2)
    monkeypatch.setattr(postgres_schema, "_PAUSE_S", 0)
    with postgres.fresh_database("migrated") as url:
        async with read_by_a_backup(url):
            with pytest.raises(SchemaProblem, match=r"made_up\.sql could not lock its tables"):
                await postgres_schema.migrate(url, later_steps("postgres"))

        assert await query_postgres(url, COLOURS) == [(0,)]


async def test_a_migration_waits_for_another_one_for_long(postgres: ThrowawayPostgres) -> None:
    """The limit of a step's locks must not end the wait for the turn to migrate."""
    with postgres.fresh_database("migrated") as url:
        async with read_by_a_backup(url):
            both = [
                asyncio.create_task(postgres_schema.migrate(url, later_steps("postgres")))
                for _ in range(2)
            ]
            await until(lambda: is_waiting(url))
        applied = await asyncio.gather(*both)

    assert sorted(len(names) for names in applied) == [0, 2]
