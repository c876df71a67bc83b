"""Reads that take long run beside the others, and can be stopped."""

import asyncio
from typing import Any

import pytest

from bowerbird.errors import Refusal
from bowerbird.storage import sqlite as sqlite_module
from bowerbird.storage.database import Database, Transaction

pytestmark = pytest.mark.anyio

ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


async def stopped(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    async with asyncio.timeout(10):
        await asyncio.gather(*tasks, return_exceptions=True)


async def test_a_slow_read_does_not_hold_up_others(sqlite: Database) -> None:
    slow = [asyncio.create_task(sqlite.slow_rows(ENDLESS, {})) for _ in range(2)]
    await asyncio.sleep(0)

    assert list(await sqlite.rows("SELECT 1", {})) == [(1,)]

    await stopped(*slow)


async def test_a_read_that_nobody_waits_for_is_stopped(sqlite: Database) -> None:
    # As many as there are readers, and as many that wait for one.
    slow = [asyncio.create_task(sqlite.slow_rows(ENDLESS, {})) for _ in range(4)]
    await asyncio.sleep(0)

    await stopped(*slow)

    for _ in range(3):
        assert list(await sqlite.slow_rows("SELECT 1", {})) == [(1,)]


async def test_a_read_that_takes_too_long_is_a_refusal(
    sqlite: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_module, "SLOW_READ_LIMIT_S", 0.05)

    with pytest.raises(Refusal, match="took too long") as refused:
        await sqlite.slow_rows(ENDLESS, {})

    assert refused.value.status == 503
    assert refused.value.headers["Retry-After"]
    assert list(await sqlite.slow_rows("SELECT 1", {})) == [(1,)]


async def test_a_library_that_is_current_is_ready(sqlite: Database) -> None:
    await sqlite.require_ready()


async def test_a_library_of_a_newer_release_is_not_ready(sqlite: Database) -> None:
    async def work(transaction: Transaction) -> None:
        await transaction.run("INSERT INTO schema_migration VALUES (9999, '', 0)", {})

    await sqlite.write(work)

    with pytest.raises(Refusal, match="newer release"):
        await sqlite.require_ready()
