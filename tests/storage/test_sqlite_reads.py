"""Slow reads run concurrently with others, and can be stopped."""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw
import pytest

from bowerbird.cli.context import opened_library
from bowerbird.errors import Refusal
from bowerbird.settings import Settings
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.opening import open_database
from bowerbird.storage.sqlite.database import SqliteDatabase
from tests.support.databases import TEMPLATE
from tests.support.postgres import ThrowawayPostgres

pytestmark = pytest.mark.anyio

ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


def connections_of(database: SqliteDatabase) -> Sequence[apsw.Connection]:
    return database._slow_readers.connections  # noqa: SLF001 - to hold one for as long as a test wants


async def stopped(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    async with asyncio.timeout(120):
        await asyncio.gather(*tasks, return_exceptions=True)


async def test_a_slow_read_does_not_delay_others(sqlite: Database) -> None:
    slow = [asyncio.create_task(sqlite.slow_rows(ENDLESS, {})) for _ in range(2)]
    await asyncio.sleep(0)

    assert list(await sqlite.rows("SELECT 1", {})) == [(1,)]

    await stopped(*slow)


async def test_a_cancelled_read_is_stopped(sqlite: Database) -> None:
    # One per reader, and as many that wait for a reader.
    slow = [asyncio.create_task(sqlite.slow_rows(ENDLESS, {})) for _ in range(4)]
    await asyncio.sleep(0)

    await stopped(*slow)

    for _ in range(3):
        assert list(await sqlite.slow_rows("SELECT 1", {})) == [(1,)]


async def test_a_connection_is_reused_only_after_its_release(sqlite: SqliteDatabase) -> None:
    entered, leave = threading.Event(), threading.Event()

    def hold(*_: Any) -> int:
        entered.set()
        return int(leave.wait(60))

    for connection in connections_of(sqlite):
        connection.create_scalar_function("hold", hold)
    held = asyncio.create_task(sqlite.slow_rows("SELECT hold()", {"account_id": 1}))
    await asyncio.to_thread(entered.wait, 30)

    # Later cancellations arrive while the first one may still wait for the thread.
    for _ in range(10):
        held.cancel()
        await asyncio.sleep(0)
    try:
        for _ in range(3):
            rows = await sqlite.slow_rows("SELECT 1", {"account_id": 2})
            assert list(rows) == [(1,)]
    finally:
        leave.set()
    await stopped(held)

    assert list(await sqlite.slow_rows("SELECT 1", {"account_id": 1})) == [(1,)]


async def test_a_read_that_takes_too_long_is_refused(tmp_path: Path) -> None:
    database = await open_database(Settings(data_dir=tmp_path), read_limit_s=0.05)

    with pytest.raises(Refusal, match="The read took too long") as refused:
        await database.slow_rows(ENDLESS, {})

    assert refused.value.status == 503
    assert refused.value.headers["Retry-After"]
    assert list(await database.slow_rows("SELECT 1", {})) == [(1,)]
    await database.close()


async def test_reads_of_a_command_have_no_time_limit(
    tmp_path: Path, postgres: ThrowawayPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert open_database.__kwdefaults__
    monkeypatch.setitem(open_database.__kwdefaults__, "read_limit_s", 0.01)
    long = ENDLESS.replace("FROM n)", "FROM n WHERE i < 2000000)")

    with postgres.fresh_database(TEMPLATE) as url:
        for settings in (Settings(data_dir=tmp_path), Settings(database_url=url)):
            async with opened_library(settings) as opened:
                assert [*(await opened.database.slow_rows(long, {}))[0]] == [2_000_000]


async def test_closing_stops_reads_without_delay(tmp_path: Path) -> None:
    database = await open_database(Settings(data_dir=tmp_path))
    slow = [asyncio.create_task(database.slow_rows(ENDLESS, {})) for _ in range(2)]
    await asyncio.sleep(0)

    async with asyncio.timeout(120):
        await database.close()
        ended = await asyncio.gather(*slow, return_exceptions=True)

    assert [str(error) for error in ended] == ["The service is stopping."] * 2


async def test_a_read_after_closing_is_refused(tmp_path: Path) -> None:
    database = await open_database(Settings(data_dir=tmp_path))
    await database.close()

    for read in (database.rows, database.slow_rows):
        with pytest.raises(Refusal, match="The service is stopping"):
            await read("SELECT 1", {})
    assert database.generation() is None


async def test_a_library_is_ready_until_a_newer_release_migrates_it(sqlite: Database) -> None:
    await sqlite.require_ready()

    async def work(transaction: Transaction) -> None:
        await transaction.run("INSERT INTO schema_migration VALUES (9999, '', 0)", {})

    await sqlite.write(work)

    with pytest.raises(Refusal, match="newer release"):
        await sqlite.require_ready()


async def test_slow_reads_map_nothing_of_the_file(tmp_path: Path) -> None:
    database = await open_database(Settings(data_dir=tmp_path))
    assert isinstance(database, SqliteDatabase)

    (short,) = await database.rows("PRAGMA mmap_size", {})
    (slow,) = await database.slow_rows("PRAGMA mmap_size", {})

    assert short[0] > 0
    assert slow[0] == 0
    await database.close()
