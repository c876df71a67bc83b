"""A slow read that nobody waits for any more ends on the PostgreSQL server too."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest

from bowerbird.errors import Refusal
from bowerbird.storage.database import Transaction
from bowerbird.storage.postgres.database import Limits, PostgresDatabase, open_pool
from tests.support import databases
from tests.support.postgres import ThrowawayPostgres
from tests.support.waiting import until

pytestmark = pytest.mark.anyio

SLEEP = "SELECT pg_sleep(60)"
# Longer than a test: only a cancelled statement ends in time.
LONG = Limits(wait_s=30, statement_s=60)


@asynccontextmanager
async def opened(server: ThrowawayPostgres) -> AsyncIterator[tuple[PostgresDatabase, Any]]:
    with server.fresh_database(databases.TEMPLATE) as url:
        database = PostgresDatabase(await open_pool(url, 4, LONG), LONG)
        watcher = await asyncpg.connect(url)
        try:
            yield database, watcher
        finally:
            await watcher.close()
            await database.close()


async def running(watcher: Any) -> int:
    """How many connections of the service run a statement."""
    count: int = await watcher.fetchval(
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE application_name = 'bowerbird' AND state = 'active'"
    )
    return count


async def started(database: PostgresDatabase, watcher: Any) -> "asyncio.Task[Any]":
    reading = asyncio.create_task(database.slow_rows(SLEEP, {"account_id": 1}))

    async def is_running() -> bool:
        return await running(watcher) == 1

    await until(is_running)
    return reading


async def test_the_server_stops_a_read_whose_caller_is_gone(postgres: ThrowawayPostgres) -> None:
    async with opened(postgres) as (database, watcher):
        reading = await started(database, watcher)

        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading

        async def is_idle() -> bool:
            return await running(watcher) == 0

        await until(is_idle)
        assert [*(await database.slow_rows("SELECT 1", {"account_id": 1}))[0]] == [1]


async def test_closing_stops_slow_reads_on_the_server(postgres: ThrowawayPostgres) -> None:
    async with opened(postgres) as (database, watcher):
        reading = await started(database, watcher)

        # Less than closing waits for connections that are in use.
        async with asyncio.timeout(LONG.wait_s * 0.8):
            await database.close()

        with pytest.raises(Refusal, match="The service is stopping"):
            await reading
        assert await running(watcher) == 0


async def test_a_write_whose_caller_goes_as_it_begins_logs_nothing(
    postgres: ThrowawayPostgres,
) -> None:
    async def write(transaction: Transaction) -> None:
        await transaction.rows("SELECT 1", {})

    said: list[str] = []
    async with opened(postgres) as (database, _):
        await database.write(write)
        asyncio.get_running_loop().set_exception_handler(lambda _, about: said.append(str(about)))
        # One of these is the moment between the first statement and its answer.
        for moment in range(60):
            writing = asyncio.create_task(database.write(write))
            for _ in range(moment):
                await asyncio.sleep(0)
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)

    assert not said
