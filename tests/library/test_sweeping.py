"""A sweep removes expired records of every account, and nothing else."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.errors import unavailable
from bowerbird.jobs.worker import Recurring, keep_running
from bowerbird.library.imports.intake import Intake
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.library.upkeep.sweeping import Sweeping
from bowerbird.model.instants import with_offset
from bowerbird.storage.bookmarks.trash import Trashed, TrashStore
from bowerbird.storage.database import Database, Transaction, Writable
from bowerbird.storage.libraries import LibraryStore
from bowerbird.storage.upkeep.idempotency import IdempotencyStore
from tests.support.imports import found
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio

HOUR = 3_600 * MICROSECONDS
DAY = 24 * HOUR


async def answer(member: Member, key: str, age: int) -> None:
    store, now = IdempotencyStore(member.database), member.clock() - age

    async def work(transaction: Transaction) -> None:
        await store.claim(
            Writable(transaction, member.account_id),
            key,
            fingerprint=b"f",
            now=now,
            oldest=now - DAY,
        )

    await member.database.write(work)


async def trash(member: Member, post_id: str, age: int) -> None:
    store, now = TrashStore(member.database), member.clock() - age

    async def work(transaction: Transaction) -> None:
        library = await LibraryStore(member.database).lock(transaction, member.account_id)
        await store.put(library, [Trashed(post_id, b"{}", now)])

    await member.database.write(work)


async def left(database: Database) -> list[str]:
    sql = "SELECT idempotency_key FROM idempotency UNION ALL SELECT post_id FROM trash"
    return sorted(row[0] for row in await database.rows(sql, {}))


def sweeping_of(cast: Service, database: Any = None) -> Sweeping:
    return Sweeping(database or cast.database, cast.clock, pause_s=0)


async def test_only_expired_records_are_removed(cast: Service) -> None:
    for member, name in ((cast.alice, "alice"), (cast.bob, "bob")):
        await answer(member, f"{name}-new", 23 * HOUR)
        await answer(member, f"{name}-old", 25 * HOUR)
        await trash(member, f"{name}-kept", 29 * DAY)
        await trash(member, f"{name}-late", 31 * DAY)

    assert await sweeping_of(cast).sweep() == 4
    assert await left(cast.database) == ["alice-kept", "alice-new", "bob-kept", "bob-new"]
    assert await sweeping_of(cast).sweep() == 0


@pytest.mark.both
async def test_an_import_that_has_not_changed_for_a_day_is_interrupted(cast: Service) -> None:
    account, runs = await cast.alice.account(), ImportRuns(cast.database, cast.clock)
    intake = Intake(cast.database, cast.clock)
    started = cast.clock.now
    stopped, busy, ended = [
        (await runs.start(account, source="x", kind="full", client="")).run_id for _ in range(3)
    ]
    await runs.finish(account, ended)
    await intake.take(account, [found(post_id="1")], run_id=stopped)
    cast.clock.now = started + 2 * HOUR
    await intake.take(account, [found(post_id="2")], run_id=busy)
    cast.clock.now = started + 25 * HOUR
    young = (await runs.start(account, source="x", kind="full", client="")).run_id

    assert await sweeping_of(cast).sweep() == 0

    states = {run.run_id: run.state for run in (await runs.list(account, 10, None)).runs}
    assert states == {
        stopped: "interrupted",
        busy: "running",
        ended: "finished",
        young: "running",
    }
    shown = await runs.get(account, stopped)
    assert (shown.reason, shown.finished_at) == ("interrupted", with_offset(started))
    await runs.undo(account, stopped)
    assert await cast.alice.ids() == ["2"]
    cast.clock.now = started + 27 * HOUR
    await sweeping_of(cast).sweep()
    assert (await runs.get(account, busy)).finished_at == with_offset(started + 2 * HOUR)
    assert (await runs.get(account, young)).state == "running"


async def test_many_stopped_imports_are_interrupted_in_several_short_transactions(
    cast: Service,
) -> None:
    account, runs = await cast.alice.account(), ImportRuns(cast.database, cast.clock)
    for _ in range(150):
        await runs.start(account, source="x", kind="full", client="")
    cast.clock.now += 25 * HOUR
    counting = Watched(cast.database)

    await sweeping_of(cast, counting).sweep()

    # The last one finds nothing.
    assert counting.writes == 3
    page = await runs.list(account, 150, None)
    assert {run.state for run in page.runs} == {"interrupted"}


async def test_many_records_are_removed_in_several_short_transactions(cast: Service) -> None:
    for number in range(250):
        await trash(cast.alice, str(number), 31 * DAY)
    await answer(cast.bob, "new", HOUR)
    counting = Watched(cast.database)

    assert await sweeping_of(cast, counting).sweep() == 250
    # The last one finds nothing, and an account without expired records causes none.
    assert counting.writes == 4


@pytest.mark.both
async def test_several_servers_can_sweep_concurrently(cast: Service) -> None:
    for number in range(300):
        await answer(cast.alice, f"key-{number}", 25 * HOUR)
        await trash(cast.bob, str(number), 31 * DAY)

    removed = await asyncio.gather(*(sweeping_of(cast).sweep() for _ in range(3)))
    removed.append(await sweeping_of(cast).sweep())

    assert sum(removed) == 600
    assert await left(cast.database) == []


async def test_sweeping_continues_after_a_failure(cast: Service) -> None:
    await trash(cast.alice, "late", 31 * DAY)
    failing = Watched(cast.database, [unavailable("away"), RuntimeError("a fault")])

    sweep = sweeping_of(cast, failing).sweep
    task = asyncio.create_task(keep_running(Recurring("sweep", 0.001, sweep), first_s=0))
    async with asyncio.timeout(120):
        await failing.third_write.wait()

    assert await left(cast.database) == []
    assert not task.done()
    # While it waits, it stops immediately.
    task.cancel()
    async with asyncio.timeout(120):
        assert await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()


class Watched:
    """A database that counts its writes, and fails the first ones with the given errors."""

    def __init__(self, inner: Database, failures: list[Exception] | None = None) -> None:
        self._inner = inner
        self._failures = failures or []
        self.writes = 0
        self.third_write = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def write(self, work: Callable[[Transaction], Awaitable[Any]]) -> Any:
        self.writes += 1
        if self._failures:
            raise self._failures.pop(0)
        try:
            return await self._inner.write(work)
        finally:
            if self.writes == 3:
                self.third_write.set()
