"""Counts of Smart Views in a library so large that counting takes long."""

import asyncio
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw
import httpx
import pytest

from bowerbird import app
from bowerbird.app import App
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.views import counts as view_counts
from bowerbird.library.views.counts import Budget, CountRequest, CountState, ViewCounts
from bowerbird.library.views.views import Views
from bowerbird.model.accounts import Account
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from bowerbird.storage.fair_queue import FairQueue
from bowerbird.storage.postgres.database import PostgresDatabase
from bowerbird.storage.sqlite.database import FILE_NAME, SqliteDatabase
from tests.support import service, toolcalls, writing
from tests.support.models import MODELS
from tests.support.posts.leaving import ENDLESS
from tests.support.service import Member
from tests.support.waiting import PATIENCE_S, until

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of the service, which these tests are about."""
    monkeypatch.setattr(view_counts, "DEFAULT_BUDGET", Budget())


# Longer than any test waits, so that only the test ends a blocked read.
BLOCKED_S = 100
# Enough for a count of few posts on a busy machine.
COUNT_S = 2.0


@contextmanager
def held(database: SqliteDatabase, name: str, *blocked: Any) -> Iterator[threading.Semaphore]:
    """Blocks the slow reads for which a parameter has one of these values, and counts them."""
    leave, running = threading.Event(), threading.Semaphore(0)

    def wait(_: apsw.Cursor, __: str, values: Any) -> bool:
        if values and values.get(name) in blocked:
            running.release()
            leave.wait(BLOCKED_S)
        return True

    for connection in database._slow_readers.connections:  # noqa: SLF001 - no request is slow enough
        connection.set_exec_trace(wait)
    try:
        yield running
    finally:
        leave.set()
        for connection in database._slow_readers.connections:  # noqa: SLF001 - as above
            connection.set_exec_trace(None)


@pytest.fixture
async def cast(sqlite: Database, tmp_path: Path) -> service.Service:
    return await service.build(sqlite, data_dir=tmp_path)


def another(cast: service.Service) -> App:
    """A second server on the same library, which has counted nothing yet."""
    return app.build(Settings(), cast.database, cast.clock, MODELS)


async def views_of(member: Member) -> httpx.Response:
    async with asyncio.timeout(PATIENCE_S):
        response = await member.get("/v1/views")
    assert response.status_code == 200
    return response


async def settled(member: Member) -> httpx.Response:
    async def look() -> httpx.Response | None:
        response = await views_of(member)
        return response if "counts_pending" not in response.json()["meta"] else None

    response = await until(look)
    assert response is not None
    return response


def counts(response: httpx.Response) -> list[tuple[int, str]]:
    return [(view["count"], view["count_state"]) for view in response.json()["data"]]


async def save_and_view(member: Member, *tags: str) -> list[str]:
    paths = []
    for tag in tags:
        await member.save(tags=[tag])
        paths.append(await writing.view(member, tag, base_query={"tag": tag}))
    return paths


async def test_views_are_listed_uncounted(cast: service.Service, sqlite: SqliteDatabase) -> None:
    await save_and_view(cast.alice, "x", "y")
    await writing.view(cast.alice, "z: all")
    other = cast.alice.on(another(cast))

    with held(sqlite, "account_id", cast.alice.account_id):
        listed = await views_of(other)
        again = await views_of(other)

    assert counts(listed) == [(0, "pending"), (0, "pending"), (2, "exact")]
    assert listed.json()["meta"] == {"counts_pending": 2}
    assert counts(again) == counts(listed)


async def test_an_incomplete_answer_is_not_cached_and_has_its_own_etag(
    cast: service.Service, sqlite: SqliteDatabase
) -> None:
    (path,) = await save_and_view(cast.alice, "x")
    other = cast.alice.on(another(cast))
    with held(sqlite, "account_id", cast.alice.account_id):
        incomplete = await views_of(other)
        tag = incomplete.headers["etag"]
        unchanged = await other.client.get("/v1/views", headers={"If-None-Match": tag})
        single = await other.get(path)
    complete = await settled(other)

    response = await other.client.get("/v1/views", headers={"If-None-Match": tag})

    assert unchanged.status_code == 304
    assert single.json()["data"]["count_state"] == "pending"
    assert response.status_code == 200
    assert complete.headers["etag"] not in (tag, None)
    assert (await other.get(path)).json()["data"]["count_state"] == "exact"


async def test_a_changed_library_shows_the_earlier_count_until_it_is_counted_again(
    cast: service.Service, sqlite: SqliteDatabase
) -> None:
    await save_and_view(cast.alice, "x")
    assert counts(await settled(cast.alice)) == [(1, "exact")]
    await cast.alice.save(tags=["x"])

    with held(sqlite, "account_id", cast.alice.account_id):
        stale = await views_of(cast.alice)

    assert counts(stale) == [(1, "earlier")]
    assert stale.json()["meta"] == {"counts_pending": 1}
    assert counts(await settled(cast.alice)) == [(2, "exact")]


async def test_counting_views_leaves_a_reader_for_the_account_and_for_others(
    cast: service.Service, sqlite: SqliteDatabase
) -> None:
    await save_and_view(cast.alice, *"abcdefgh")
    await cast.bob.save(tags=["x"])
    other = another(cast)
    alice, bob = cast.alice.on(other), cast.bob.on(other)

    with held(sqlite, "tag", *"abcdefgh") as running:
        await asyncio.gather(*(views_of(alice) for _ in range(10)))
        assert running.acquire(timeout=PATIENCE_S)
        async with asyncio.timeout(PATIENCE_S):
            assert len(await bob.ids(tag="x")) == 1
            assert await alice.ids(author="nobody") == []
        # All ten requests share one count at a time.
        assert not running.acquire(blocking=False)


async def test_the_tool_marks_pending_counts(cast: service.Service, sqlite: SqliteDatabase) -> None:
    await save_and_view(cast.alice, "x")
    other = cast.alice.on(another(cast))

    with held(sqlite, "account_id", cast.alice.account_id):
        async with asyncio.timeout(PATIENCE_S):
            result = await toolcalls.call(other, "list_views")
    await settled(other)
    later = await toolcalls.call(other, "list_views")

    assert [(v["count"], v["count_state"]) for v in result["views"]] == [(0, "pending")]
    assert "again" in result["advice"]
    assert [(v["count"], v["count_state"]) for v in later["views"]] == [(1, "exact")]
    assert "advice" not in later


async def test_a_count_that_takes_too_long_is_interrupted_and_marked(
    cast: service.Service, sqlite: SqliteDatabase
) -> None:
    await save_and_view(cast.alice, "x")
    await writing.view(cast.alice, "z", base_query={"author": "nobody"})
    budget = Budget(request_s=30, count_s=COUNT_S)
    views = Views(sqlite, Bookmarks(sqlite), cast.clock, budget)
    account = await cast.alice.account()
    for connection in sqlite._slow_readers.connections:  # noqa: SLF001 - a count that never ends
        connection.execute(ENDLESS.format(account_id=account.account_id))

    shown = await views.responses(account, await views.all(account))

    assert [view.count_state for view in shown] == [CountState.UNAVAILABLE, CountState.EXACT]
    # The statement was interrupted: every reader is free again.
    async with asyncio.timeout(PATIENCE_S):
        rows = await asyncio.gather(*(sqlite.slow_rows("SELECT 1", {}) for _ in range(3)))
    assert [list(row) for row in rows] == [[(1,)]] * 3


async def test_a_count_that_took_too_long_is_tried_again_later(
    cast: service.Service, sqlite: SqliteDatabase
) -> None:
    await save_and_view(cast.alice, "x")
    account = await cast.alice.account()
    soon, late = (
        Views(sqlite, Bookmarks(sqlite), cast.clock, Budget(30, COUNT_S, retry_s=retry_s))
        for retry_s in (0, 300)
    )
    connections = sqlite._slow_readers.connections  # noqa: SLF001 - a count that never ends
    for connection in connections:
        connection.execute(ENDLESS.format(account_id=account.account_id))
    for views in (soon, late):
        (view,) = await views.responses(account, await views.all(account))
        assert view.count_state is CountState.UNAVAILABLE

    waiting = list(connections)

    async def are_dropped() -> bool:
        # An interrupted count may not have left its connection yet.
        with suppress(apsw.ThreadingViolationError):
            while waiting:
                waiting[0].execute("DROP VIEW temp.bookmark_label")
                waiting.pop(0)
        return not waiting

    await until(are_dropped)

    states = [
        (await views.responses(account, await views.all(account)))[0].count_state
        for views in (soon, late)
    ]
    assert states == [CountState.EXACT, CountState.UNAVAILABLE]


def slow_queue(database: Database) -> FairQueue:
    if isinstance(database, SqliteDatabase):
        return database._slow_readers._queue  # noqa: SLF001 - no other account is slow enough
    assert isinstance(database, PostgresDatabase)
    return database._slow_reads  # noqa: SLF001 - as above


@pytest.mark.both
async def test_a_count_that_waits_for_other_accounts_is_not_given_up(database: Database) -> None:
    cast = await service.build(database)
    await save_and_view(cast.alice, "x")
    account = await cast.alice.account()
    # Waits longer than a count may take.
    budget = Budget(request_s=2 * COUNT_S, count_s=COUNT_S)
    views = Views(database, Bookmarks(database), cast.clock, budget)
    queue = slow_queue(database)
    others: list[int] = []
    while queue._may_take(-len(others)):  # noqa: SLF001 - until every slot is taken
        await queue.acquire(-len(others))
        others.append(-len(others))

    (waiting,) = await views.responses(account, await views.all(account))
    for other in others:
        queue.release(other)

    async def is_exact() -> bool:
        (view,) = await views.responses(account, await views.all(account))
        assert view.count_state is not CountState.UNAVAILABLE
        return view.count_state is CountState.EXACT

    assert waiting.count_state is CountState.PENDING
    await until(is_exact)


async def test_counting_ends_when_the_library_closes(sqlite_template: Path, tmp_path: Path) -> None:
    shutil.copy(sqlite_template, tmp_path / FILE_NAME)
    database = SqliteDatabase(tmp_path)
    cast = await service.build(database)
    await save_and_view(cast.alice, "x")
    for connection in database._slow_readers.connections:  # noqa: SLF001 - as above
        connection.execute(ENDLESS.format(account_id=cast.alice.account_id))
    # Only closing ends the count in time.
    views = Views(database, Bookmarks(database), cast.clock, Budget(count_s=BLOCKED_S))
    account = await cast.alice.account()
    before = asyncio.all_tasks()
    (pending,) = await views.responses(account, await views.all(account))
    counting = asyncio.all_tasks() - before

    async with asyncio.timeout(PATIENCE_S):
        await database.close()
        await asyncio.wait(counting)

    assert (pending.count, pending.count_state) == (0, CountState.PENDING)
    assert counting


async def test_what_is_asked_for_last_is_counted_first() -> None:
    """Also if it was asked for before. Accounts take turns."""
    counted: list[str] = []
    leave = asyncio.Event()

    def asked(*names: str, account_id: int = 1) -> list[CountRequest]:
        account = Account(account_id, 1, "pro", 5, 1, 0, 0, 0, 0, 0)
        return [request(account, name) for name in names]

    def request(account: Account, name: str) -> CountRequest:
        async def total() -> int:
            await leave.wait()
            # As a read of the database lets others run.
            await asyncio.sleep(0)
            counted.append(name)
            return len(counted)

        return CountRequest(account, {"tag": name}, (1, 1, ""), total)

    counts = ViewCounts(Budget(request_s=0))
    await counts.of(asked("a", "b", "c", "d"))
    await counts.of(asked("c"))
    await counts.of(asked("x", "y", account_id=2))
    await counts.of(asked("e"))
    leave.set()

    async def all_are_counted() -> bool:
        return len(counted) == 7

    await until(all_are_counted)
    assert [name for name in counted if name in "abcde"] == ["a", "e", "c", "b", "d"]
    assert [name for name in counted if name in "xy"] == ["x", "y"]
    assert max(counted.index("x"), counted.index("y")) < 5


async def test_a_count_that_is_cancelled_or_waits_too_long_leaves_the_next_request_free() -> None:
    account = Account(1, 1, "pro", 5, 1, 0, 0, 0, 0, 0)
    ends: list[type[BaseException]] = [asyncio.CancelledError]

    async def total() -> int:
        for end in ends:
            raise end
        return 7

    def asked(name: str) -> CountRequest:
        return CountRequest(account, {"tag": name}, (1, 1, ""), total)

    counts = ViewCounts(Budget(request_s=PATIENCE_S))
    cancelled = await counts.of([asked("a"), asked("b")])
    ends.clear()
    counts.budget = Budget(request_s=PATIENCE_S, background_s=0)
    late = await counts.of([asked("a")])
    counts.budget = Budget(request_s=PATIENCE_S)
    counted = await counts.of([asked("a"), asked("b")])

    assert {one.state for one in (*cancelled, *late)} == {CountState.PENDING}
    assert [(one.value, one.state) for one in counted] == [(7, CountState.EXACT)] * 2
