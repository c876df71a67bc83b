"""An account with many waiting writes does not stall the writes of others, on either database."""

import asyncio
import shutil
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from bowerbird.errors import Code, Refusal
from bowerbird.model.arrival import FileImport
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.ingest import FileImportStore
from bowerbird.storage.postgres.database import Limits, PostgresDatabase, open_pool
from bowerbird.storage.sqlite.database import FILE_NAME, SqliteDatabase
from bowerbird.storage.sqlite.write_queue import WAITING_PER_ACCOUNT
from tests.support import databases, service
from tests.support.postgres import ThrowawayPostgres
from tests.support.service import Member
from tests.support.waiting import PATIENCE_S, until

pytestmark = pytest.mark.anyio

ALICE, BOB, CAROL = 1, 2, 3


class Order:
    """Writes that record the order in which they run."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.ran: list[str] = []

    def start(
        self, account_id: int | None, name: str, *, is_continuing: bool = False
    ) -> "asyncio.Task[None]":
        async def work(_: Transaction) -> None:
            self.ran.append(name)

        write = self._database.write(work, account_id, is_continuing=is_continuing)
        return asyncio.create_task(write)


@contextmanager
def held(database: Database) -> Iterator[Callable[[], None]]:
    """Keeps the writer busy until the end, or until the yielded function is called."""
    entered, leave = threading.Event(), threading.Event()

    async def hold(_: Transaction) -> None:
        entered.set()
        assert leave.wait(30)

    holding = asyncio.ensure_future(database.write(hold))
    try:
        yield leave.set
    finally:
        leave.set()
        assert holding


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_accounts_take_turns_at_the_writer(sqlite: Database) -> None:
    order = Order(sqlite)
    with held(sqlite) as release:
        tasks = [order.start(ALICE, f"a{n}") for n in range(50)]
        await settled()
        tasks += [order.start(BOB, "b0"), order.start(BOB, "b1"), order.start(CAROL, "c0")]
        await settled()
        release()
        await asyncio.gather(*tasks)

    assert order.ran[:6] == ["a0", "b0", "c0", "a1", "b1", "a2"]
    assert [name for name in order.ran if name[0] == "a"] == [f"a{n}" for n in range(50)]


async def test_only_the_account_with_too_many_waiting_writes_is_refused(sqlite: Database) -> None:
    order = Order(sqlite)
    with held(sqlite) as release:
        waiting = [order.start(ALICE, f"a{n}") for n in range(WAITING_PER_ACCOUNT)]
        await settled()

        with pytest.raises(Refusal) as refused:
            await order.start(ALICE, "too many")
        others = [order.start(BOB, "b0"), order.start(None, "service")]
        await settled()
        release()
        await asyncio.gather(*waiting, *others)

    assert refused.value.code is Code.SERVICE_UNAVAILABLE
    assert refused.value.headers["Retry-After"] == "2"
    assert refused.value.sentence == (
        "Too many changes of this account wait for the database; retry later."
    )
    assert "too many" not in order.ran
    assert len(order.ran) == WAITING_PER_ACCOUNT + 2
    await order.start(ALICE, "later")


async def test_the_calls_of_a_free_account_wait_in_its_name(sqlite: Database) -> None:
    store = AccountStore(sqlite)
    with held(sqlite) as release:
        waiting = [
            asyncio.create_task(store.charge(ALICE, 1, 100)) for _ in range(WAITING_PER_ACCOUNT)
        ]
        await settled()

        with pytest.raises(Refusal, match="Too many changes of this account"):
            await asyncio.wait_for(store.charge(ALICE, 1, 100), PATIENCE_S)
        release()
        await asyncio.gather(*waiting)


async def test_a_file_import_says_that_it_goes_on_while_too_many_writes_of_its_account_wait(
    sqlite: Database,
) -> None:
    order, store = Order(sqlite), FileImportStore(sqlite)
    file = FileImport("job", False, "processing", 1, 2, b"{}", None, 0, 0, None)  # noqa: FBT003 - a row
    with held(sqlite) as release:
        waiting = [order.start(ALICE, f"a{n}") for n in range(WAITING_PER_ACCOUNT)]
        await settled()

        waiting.append(asyncio.create_task(store.update(ALICE, file)))
        await settled()
        release()
        await asyncio.gather(*waiting)


async def test_the_next_turn_of_an_edit_is_accepted_when_many_writes_wait(sqlite: Database) -> None:
    order = Order(sqlite)
    with held(sqlite) as release:
        waiting = [order.start(ALICE, f"a{n}") for n in range(WAITING_PER_ACCOUNT)]
        await settled()

        waiting.append(order.start(ALICE, "next turn", is_continuing=True))
        await settled()
        release()
        await asyncio.gather(*waiting)

    assert order.ran[0] == "next turn"


async def test_a_write_that_waits_too_long_is_refused_but_not_the_next_turn_of_an_edit(
    sqlite_template: Path, tmp_path: Path
) -> None:
    shutil.copy(sqlite_template, tmp_path / FILE_NAME)
    database = SqliteDatabase(tmp_path, write_wait_s=0.05)
    order = Order(database)
    with held(database):
        turn = order.start(ALICE, "next turn", is_continuing=True)
        with pytest.raises(Refusal) as refused:
            await order.start(ALICE, "late")
        assert not turn.done()

    await turn
    await order.start(ALICE, "next")
    await database.close()
    assert refused.value.sentence == (
        "The change waited too long behind others and was not made; retry later."
    )
    assert refused.value.headers["Retry-After"]
    assert order.ran == ["next turn", "next"]


async def test_a_waiting_write_does_not_run_after_its_caller_left(sqlite: Database) -> None:
    order = Order(sqlite)
    with held(sqlite) as release:
        given_up, kept = order.start(ALICE, "given up"), order.start(ALICE, "kept")
        await settled()
        given_up.cancel()
        await settled()
        release()
        await kept

    assert order.ran == ["kept"]
    assert given_up.cancelled()


async def test_requests_write_as_their_account(sqlite_template: Path, tmp_path: Path) -> None:
    async with databases.fresh_sqlite(sqlite_template, tmp_path) as database:
        cast = await service.build(database)
        with held(database) as release:
            asked = [
                asyncio.create_task(label(cast.alice, f"label {n}"))
                for n in range(WAITING_PER_ACCOUNT + 1)
            ]
            done, waiting = await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
            others = asyncio.create_task(label(cast.bob, "label"))
            await settled()
            release()
            assert (await others).status_code == 404

    (refused,) = done
    assert refused.result().status_code == 503
    assert refused.result().headers["retry-after"] == "2"
    assert {(await task).status_code for task in waiting} == {404}


async def label(member: Member, name: str, **headers: str) -> httpx.Response:
    body = {"tweet_ids": ["1"], "label_name": name}
    return await member.client.post("/v1/labels/add", json=body, headers=headers)


# PostgreSQL


@asynccontextmanager
async def opened(server: ThrowawayPostgres, connections: int) -> AsyncIterator[tuple[Any, str]]:
    # Longer than thirty writes take on a busy machine.
    limits = Limits(wait_s=60, lock_s=60, statement_s=60)
    with server.fresh_database(databases.TEMPLATE) as url:
        database = PostgresDatabase(await open_pool(url, connections, limits), limits)
        try:
            yield database, url
        finally:
            await database.close()


@asynccontextmanager
async def library_locked(url: str, account_id: int) -> AsyncIterator[None]:
    """Another program holds the lock on the library of one account."""
    other = await asyncpg.connect(url)
    try:
        async with other.transaction():
            sql = "SELECT 1 FROM library WHERE account_id = $1 FOR UPDATE"
            await other.execute(sql, account_id)
            yield
    finally:
        await other.close()


@pytest.mark.parametrize("connections", [2, 3, 10])
async def test_waiting_writes_of_one_account_leave_connections_for_others(
    postgres: ThrowawayPostgres, connections: int
) -> None:
    async with opened(postgres, connections) as (database, url):
        cast = await service.build(database)
        await cast.alice.save(post_id="1")
        await cast.bob.save(post_id="1")
        watcher = await asyncpg.connect(url)
        async with library_locked(url, cast.alice.account_id):
            asked = [asyncio.create_task(label(cast.alice, f"label {n}")) for n in range(30)]

            async def is_waiting() -> bool:
                return bool(
                    await watcher.fetchval(
                        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                    )
                )

            await until(is_waiting)
            # Less than the time in which a write gives up its lock or its place in the queue.
            async with asyncio.timeout(PATIENCE_S):
                assert await cast.bob.ids() == ["1"]
                assert (await label(cast.bob, "label")).status_code == 200
            assert not any(task.done() for task in asked)
        await watcher.close()
        assert {(await task).status_code for task in asked} == {200}


@asynccontextmanager
async def impatient(server: ThrowawayPostgres) -> AsyncIterator[PostgresDatabase]:
    """Two connections, and little time to wait for one."""
    limits = Limits(wait_s=0.2)
    with server.fresh_database(databases.TEMPLATE) as url:
        database = PostgresDatabase(await open_pool(url, 2, limits), limits)
        try:
            yield database
        finally:
            await database.close()


async def test_the_next_turn_of_an_edit_on_postgresql_waits_as_long_as_it_takes(
    postgres: ThrowawayPostgres,
) -> None:
    async with impatient(postgres) as database:
        order = Order(database)
        entered, leave = asyncio.Event(), asyncio.Event()

        async def hold(_: Transaction) -> None:
            entered.set()
            await leave.wait()

        # As many as an account may run, and as many of it as may wait.
        holding = asyncio.create_task(database.write(hold, ALICE))
        await entered.wait()
        waiting = [order.start(ALICE, f"a{n}") for n in range(100)]
        await settled()
        with pytest.raises(Refusal, match="Too many requests of this account"):
            await order.start(ALICE, "too many")
        turn = order.start(ALICE, "next turn", is_continuing=True)
        refused = await asyncio.gather(*waiting, return_exceptions=True)
        assert not turn.done()
        leave.set()
        await asyncio.gather(holding, turn)

    assert all(isinstance(outcome, Refusal) for outcome in refused)
    assert order.ran == ["next turn"]


async def test_the_next_turn_of_an_edit_waits_for_a_connection_that_others_use(
    postgres: ThrowawayPostgres,
) -> None:
    async with impatient(postgres) as database:
        order = Order(database)
        leave, entered = asyncio.Event(), asyncio.Semaphore(0)

        async def hold(number: int) -> None:
            async with database._connections.slot(number):  # noqa: SLF001 - as slow reads do
                entered.release()
                await leave.wait()

        holding = [asyncio.create_task(hold(number)) for number in range(2)]
        for _ in holding:
            await entered.acquire()
        turn = order.start(ALICE, "next turn", is_continuing=True)
        with pytest.raises(Refusal, match="No database connection became free"):
            await order.start(BOB, "late")
        assert not turn.done()
        leave.set()
        await asyncio.gather(turn, *holding)

    assert order.ran == ["next turn"]


NAME: ContextVar[str] = ContextVar("name", default="nobody")


async def test_concurrent_writes_see_their_own_caller(database: Database) -> None:
    async def read(_: Transaction) -> str:
        return NAME.get()

    async def write_as(name: str) -> str:
        NAME.set(name)
        return await database.write(read)

    names = [f"caller {n}" for n in range(20)]

    assert await asyncio.gather(*map(write_as, names)) == names
    assert await database.write(read) == "nobody"
