"""An account with many slow reads does not stall the others, on either database."""

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

from bowerbird.errors import Refusal
from bowerbird.storage.database import Database
from bowerbird.storage.fair_queue import Bounds
from bowerbird.storage.postgres.database import PostgresDatabase, open_pool
from bowerbird.storage.sqlite.database import SqliteDatabase
from tests.support import databases, service, working
from tests.support.exporting import begin
from tests.support.postgres import ThrowawayPostgres
from tests.support.service import Member
from tests.support.waiting import until

pytestmark = pytest.mark.anyio

MANY = 40
# No counter has these results, so both read the library on a slow reader.
SLOW = ({"author": "somebody"}, {"q": "word"})


@contextmanager
def held(database: SqliteDatabase, account_id: int) -> Iterator[threading.Semaphore]:
    """Blocks each slow read of an account before it starts, and counts the blocked reads."""
    leave, count = threading.Event(), threading.Semaphore(0)

    def wait(_: apsw.Cursor, __: str, values: Any) -> bool:
        if values and values.get("account_id") == account_id:
            count.release()
            leave.wait(30)
        return True

    for connection in database._slow_readers.connections:  # noqa: SLF001 - no request is slow enough
        connection.set_exec_trace(wait)
    try:
        yield count
    finally:
        leave.set()


async def counted(member: Member) -> None:
    for filter in SLOW:
        answer = await member.get("/v1/bookmarks/count", **filter)
        assert answer.status_code == 200, answer.text


async def test_many_slow_counts_of_one_account_do_not_stall_another(
    sqlite_template: Path, tmp_path: Path
) -> None:
    async with databases.fresh_sqlite(sqlite_template, tmp_path) as database:
        assert isinstance(database, SqliteDatabase)
        cast = await service.build(database)
        with held(database, cast.alice.account_id) as count:
            slow = [asyncio.create_task(counted(cast.alice)) for _ in range(MANY)]
            await asyncio.to_thread(count.acquire, timeout=90)

            async with asyncio.timeout(25):
                await counted(cast.bob)
            assert not any(task.done() for task in slow)

        await asyncio.gather(*slow)


async def test_an_export_waits_for_a_reader(sqlite_template: Path, tmp_path: Path) -> None:
    async with databases.fresh_sqlite(sqlite_template, tmp_path) as database:
        assert isinstance(database, SqliteDatabase)
        cast = await service.build(database, data_dir=tmp_path)
        await cast.alice.save()
        account_id = cast.alice.account_id

        async def is_waiting() -> bool:
            queue = database._slow_readers._queue  # noqa: SLF001 - nothing else shows it
            return len(queue._waiting[account_id]) > Bounds().per_account  # noqa: SLF001

        async with working.at_work(cast.app.worker):
            with held(database, account_id):
                asked = [
                    asyncio.create_task(cast.alice.get("/v1/bookmarks/count", author="somebody"))
                    for _ in range(200)
                ]
                await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
                job = await begin(cast.alice)
                await until(is_waiting)
            done = await working.until(database, account_id, job["job_id"], "completed")

        assert (done.tries, done.total) == (1, 1)
        await asyncio.gather(*asked)


async def test_only_the_account_with_too_many_waiting_reads_is_refused(
    sqlite_template: Path, tmp_path: Path
) -> None:
    async with databases.fresh_sqlite(sqlite_template, tmp_path) as database:
        assert isinstance(database, SqliteDatabase)
        cast = await service.build(database)
        with held(database, cast.alice.account_id):
            asked = [
                asyncio.create_task(cast.alice.get("/v1/bookmarks/count", author="somebody"))
                for _ in range(200)
            ]
            done, waiting = await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
            await counted(cast.bob)

        for task in done:
            refused = task.result()
            assert refused.status_code == 503
            assert refused.json()["code"] == "SERVICE_UNAVAILABLE"
            assert int(refused.headers["retry-after"]) >= 1
        answers = Counter([(await task).status_code for task in asked])
        assert answers.keys() == {200, 503}
        assert answers[200] >= 100
        assert waiting


async def test_many_slow_queries_of_one_account_leave_connections_for_others(
    postgres: ThrowawayPostgres,
) -> None:
    async with databases.fresh_postgres(postgres) as database:
        cast = await service.build(database)
        slow = [asyncio.create_task(sleep_on(database, cast.alice)) for _ in range(MANY)]
        await asyncio.sleep(0)

        async with asyncio.timeout(25):
            await counted(cast.bob)
            assert await cast.bob.ids() == []
        await ended(slow)


async def test_a_single_connection_still_serves_slow_reads(postgres: ThrowawayPostgres) -> None:
    with postgres.fresh_database(databases.TEMPLATE) as url:
        database = PostgresDatabase(await open_pool(url, 1))
        cast = await service.build(database)

        await asyncio.gather(*(counted(cast.alice) for _ in range(5)))
        await database.close()


async def sleep_on(database: Database, member: Member) -> None:
    await database.slow_rows("SELECT pg_sleep(30)", {"account_id": member.account_id})


async def ended(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    for outcome in await asyncio.gather(*tasks, return_exceptions=True):
        assert isinstance(outcome, asyncio.CancelledError | Refusal)
