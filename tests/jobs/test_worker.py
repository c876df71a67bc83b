"""Workers run each job once, lose none, and share their time between accounts."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import pytest

from bowerbird import errors
from bowerbird.clock import MICROSECONDS, system_clock
from bowerbird.jobs.worker import Failed, JobKind, LeaseLost, Progress, Recurring, Worker
from bowerbird.model.jobs import DIGESTS, EMBEDDING, EXPORTS, SOURCES, Job
from bowerbird.storage.database import Database, Row, Values
from bowerbird.storage.upkeep.jobs import JobStore
from tests.support import waiting, working
from tests.support.waiting import PATIENCE_S
from tests.support.working import add, at_work, new_account, shown, until

pytestmark = pytest.mark.anyio


class Errand:
    """Records its jobs, and can block in the middle of them for as long as a test needs."""

    def __init__(self, *outcomes: Any, is_blocked: bool = False) -> None:
        self._outcomes = list(outcomes)
        self.started: list[Job] = []
        self.ended: list[Job] = []
        self.is_running = asyncio.Event()
        self.unblocked = asyncio.Event()
        self.is_lost = asyncio.Event()
        self._more = asyncio.Condition()
        if not is_blocked:
            self.unblocked.set()

    async def until_started(self, count: int) -> None:
        async with asyncio.timeout(PATIENCE_S), self._more:
            await self._more.wait_for(lambda: len(self.started) >= count)

    async def __call__(self, job: Job, progress: Progress) -> bytes | None:
        self.started.append(job)
        async with self._more:
            self._more.notify_all()
        await progress(0, 2)
        self.is_running.set()
        await self.unblocked.wait()
        try:
            await progress(2, 2)
        except LeaseLost:
            self.is_lost.set()
            raise
        self.ended.append(job)
        outcome = self._outcomes.pop(0) if self._outcomes else b'{"done":true}'
        if isinstance(outcome, Exception):
            raise outcome
        return bytes(outcome)


@pytest.mark.both
async def test_a_completed_job_has_its_result(database: Database) -> None:
    account_id = await new_account(database)
    errand = Errand()
    job_id = await add(database, account_id, parameters=b'{"a":1}')

    async with at_work(working.worker(database, errand)):
        done = await until(database, account_id, job_id, "completed", "failed")

    assert (done.state, done.result, done.done, done.total) == (
        *("completed", b'{"done":true}'),
        *(2, 2),
    )
    assert done.completed_at is not None
    assert done.expires_at is None
    assert [(job.parameters, job.tries) for job in errand.started] == [(b'{"a":1}', 1)]


@pytest.mark.both
async def test_several_workers_run_each_job_once(database: Database) -> None:
    account_id = await new_account(database)
    errand = Errand()
    job_ids = [await add(database, account_id) for _ in range(20)]

    async with at_work(*(working.worker(database, errand) for _ in range(3))):
        for job_id in job_ids:
            await until(database, account_id, job_id, "completed")

    assert sorted(job.job_id for job in errand.started) == sorted(job_ids)


@pytest.mark.both
async def test_a_failing_job_is_attempted_three_times_and_reports_the_reason(
    database: Database,
) -> None:
    account_id = await new_account(database)
    job_id = await add(database, account_id)
    for problems, state, tries, error in (
        ([errors.unavailable("The disk is full.")] * 3, "failed", 3, "The disk is full."),
        # An internal error does not reveal its message.
        (
            [KeyError("secret")] * 3,
            "failed",
            3,
            f"Internal error. The server log has the details ({job_id}).",
        ),
        ([Failed("Too large for a page.")], "failed", 1, "Too large for a page."),
        ([errors.unavailable("Not now.")], "completed", 2, None),
    ):
        errand = Errand(*problems)
        async with at_work(working.worker(database, errand)):
            ended = await until(database, account_id, job_id, "failed", "completed")
        assert (ended.state, ended.tries, ended.error) == (state, tries, error)
        assert [job.tries for job in errand.started] == [*range(1, tries + 1)]
        await JobStore(database).retry(account_id, job_id)


@pytest.mark.both
async def test_the_lease_is_renewed_while_a_job_reports_no_progress(database: Database) -> None:
    account_id = await new_account(database)
    errand = Errand(is_blocked=True)
    job_id = await add(database, account_id)

    workers = [working.worker(database, errand, lease_s=LEASE_S, heartbeat_s=0.1) for _ in range(2)]
    async with at_work(*workers):
        await errand.is_running.wait()
        first = await lease_end(database)

        async def has_outlived_two_leases() -> bool:
            return await lease_end(database) > first + 2 * LEASE_S * MICROSECONDS

        await waiting.until(has_outlived_two_leases)
        errand.unblocked.set()
        await until(database, account_id, job_id, "completed")

    assert len(errand.started) == 1


# Much longer than a busy machine may delay a heartbeat.
LEASE_S = 3.0


async def lease_end(database: Database) -> int:
    ((end,),) = await database.rows("SELECT due_at FROM job", {})
    return int(end)


@pytest.mark.both
async def test_a_job_without_a_heartbeat_is_claimed_by_another_worker(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_every_progress(monkeypatch)
    account_id = await new_account(database)
    first, second = Errand(b'"first"', is_blocked=True), Errand(b'"second"', is_blocked=True)
    job_id = await add(database, account_id)

    async with at_work(working.worker(database, first, lanes=1, lease_s=0.3, heartbeat_s=60)):
        await first.is_running.wait()
        async with at_work(working.worker(database, second)):
            await asyncio.wait_for(second.is_running.wait(), PATIENCE_S)
            first.unblocked.set()
            await asyncio.wait_for(first.is_lost.wait(), PATIENCE_S)
            second.unblocked.set()
            done = await until(database, account_id, job_id, "completed")

    assert (done.result, done.tries) == (b'"second"', 2)
    assert first.ended == []


@pytest.mark.both
@pytest.mark.parametrize("problem", ["", "The disk is full."])
async def test_a_job_fails_after_its_workers_died_three_times(
    database: Database, problem: str
) -> None:
    account_id = await new_account(database)
    job_id = await add(database, account_id)
    store = JobStore(database)
    for _ in range(3):
        claimed = await store.claim(["errand"], EXPORTS, lease_s=0, now=system_clock())
        assert claimed is not None
        if claimed.tries == 1 and problem:
            await store.postpone(claimed, problem, pause_s=0)
    assert await store.claim(["errand"], EXPORTS, lease_s=0, now=system_clock()) is None
    failed = await shown(database, account_id, job_id)
    assert failed.state == "failed"
    died = "The worker stopped during the last of 3 attempts."
    assert failed.error == f"{problem} {died}".strip()


@pytest.mark.both
async def test_a_stopping_worker_releases_its_job_without_counting_the_attempt(
    database: Database,
) -> None:
    account_id = await new_account(database)
    errand = Errand(is_blocked=True)
    job_id = await add(database, account_id)

    async with at_work(working.worker(database, errand)):
        await errand.is_running.wait()

    pending = await shown(database, account_id, job_id)
    assert (pending.state, pending.tries) == ("pending", 0)
    assert await JobStore(database).claim(["errand"], EXPORTS, lease_s=60, now=system_clock())


async def test_a_stopping_worker_releases_a_job_that_it_has_not_started(database: Database) -> None:
    account_id = await new_account(database)
    job_id = await add(database, account_id)
    errand, stopping = Errand(), asyncio.Event()

    def clock_that_stops_the_worker() -> int:
        stopping.set()
        return system_clock()

    worker = Worker(database, [JobKind("errand", errand)], [], clock_that_stops_the_worker)
    await worker.run(stopping)

    assert errand.started == []
    pending = await shown(database, account_id, job_id)
    assert (pending.state, pending.tries) == ("pending", 0)


def write_every_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise progress is written at most once per second."""
    monkeypatch.setattr("bowerbird.jobs.worker._WRITE_INTERVAL_S", 0.0)


@pytest.mark.both
async def test_a_cancelled_job_ends_when_it_reports_progress(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_every_progress(monkeypatch)
    account_id = await new_account(database)
    errand = Errand(is_blocked=True)
    job_id = await add(database, account_id)

    async with at_work(working.worker(database, errand, heartbeat_s=60)):
        await errand.is_running.wait()
        assert await JobStore(database).cancel(account_id, job_id, now=system_clock())
        errand.unblocked.set()
        await asyncio.wait_for(errand.is_lost.wait(), PATIENCE_S)

    assert (len(errand.started), errand.ended) == (1, [])
    cancelled = await shown(database, account_id, job_id)
    assert (cancelled.state, cancelled.error) == ("failed", "The job was cancelled.")


@pytest.mark.both
async def test_a_single_lane_runs_urgent_jobs_first_and_then_takes_turns(
    database: Database,
) -> None:
    many, one = await new_account(database), await new_account(database)
    errand = Errand(is_blocked=True)
    later = await add(database, many, priority=EMBEDDING)
    for _ in range(30):
        await add(database, many)
    async with at_work(working.worker(database, errand, lanes=1)):
        await errand.is_running.wait()
        job_id = await add(database, one)
        errand.unblocked.set()
        await until(database, one, job_id, "completed")
        served = [job.account_id for job in errand.started]
        assert served.index(one) == 1
        await until(database, many, later, "completed")
    assert errand.started[-1].job_id == later


async def test_jobs_that_wait_for_the_network_have_lanes_of_their_own(database: Database) -> None:
    accounts = [await new_account(database) for _ in range(3)]
    slow, quick = Errand(is_blocked=True), Errand()
    for account_id in accounts:
        await add(database, account_id, "read", priority=SOURCES)
    kinds = [JobKind("read", slow, is_waiting=True), JobKind("errand", quick)]

    async with at_work(working.worker(database, slow, kinds=kinds, lanes=1, network_lanes=2)):
        await slow.until_started(2)
        job_id = await add(database, accounts[0], priority=EMBEDDING)
        await until(database, accounts[0], job_id, "completed")
        assert len(slow.started) == 2
        slow.unblocked.set()
        await slow.until_started(3)


@pytest.mark.parametrize("priority", [DIGESTS, EMBEDDING])
async def test_long_jobs_leave_a_lane_for_urgent_ones(database: Database, priority: int) -> None:
    accounts = [await new_account(database) for _ in range(5)]
    slow, quick = Errand(is_blocked=True), Errand()
    for account_id in accounts[1:]:
        await add(database, account_id, "slow", priority=priority)
    kinds = [JobKind("slow", slow), JobKind("errand", quick)]
    async with at_work(working.worker(database, slow, kinds=kinds, lanes=3)):
        await slow.until_started(2)
        # The second proves that the worker has looked for jobs again since the first ended.
        for _ in range(2):
            job_id = await add(database, accounts[0])
            await until(database, accounts[0], job_id, "completed")
        assert len(slow.started) == 2


@pytest.mark.both
async def test_long_jobs_of_an_account_leave_a_lane_for_others(database: Database) -> None:
    many, one = await new_account(database), await new_account(database)
    blocked, quick = Errand(is_blocked=True), Errand()
    for _ in range(5):
        await add(database, many)
    kinds = [JobKind("errand", blocked), JobKind("quick", quick)]

    async with at_work(working.worker(database, blocked, kinds=kinds, lanes=3)):
        await blocked.until_started(2)
        # The second proves that the worker has looked for jobs again since the first ended.
        for _ in range(2):
            job_id = await add(database, one, "quick")
            await until(database, one, job_id, "completed")
        assert [job.account_id for job in blocked.started] == [many, many]


async def test_a_worker_leaves_jobs_of_unknown_kinds_alone(database: Database) -> None:
    account_id = await new_account(database)
    unknown = await add(database, account_id, "of a later release")
    known = await add(database, account_id)

    async with at_work(working.worker(database, Errand())):
        await until(database, account_id, known, "completed")

    assert (await shown(database, account_id, unknown)).state == "pending"


async def test_a_wake_up_is_faster_than_polling(database: Database) -> None:
    account_id = await new_account(database)
    worker = working.worker(database, Errand(), poll_s=300)

    async with at_work(worker):
        # After the first job the worker looks for jobs once more, then waits for a long time.
        for _ in range(2):
            job_id = await add(database, account_id)
            worker.wake()
            done = await until(database, account_id, job_id, "completed")

    assert done.state == "completed"


async def test_an_idle_worker_does_not_write_to_the_database(
    sqlite: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    generation = sqlite.generation()
    assert generation is not None
    looks = 0
    has_looked = asyncio.Event()
    read = sqlite.rows

    async def noted(sql: str, values: Values) -> Sequence[Row]:
        nonlocal looks
        looks += 1
        if looks == 10:
            has_looked.set()
        return await read(sql, values)

    monkeypatch.setattr(sqlite, "rows", noted)
    async with at_work(working.worker(sqlite, Errand())):
        await asyncio.wait_for(has_looked.wait(), PATIENCE_S)

    assert sqlite.generation() == generation


async def test_an_idle_worker_looks_less_often_if_the_database_is_slow(
    sqlite: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[float] = []
    has_looked = asyncio.Event()
    read = sqlite.rows

    async def slow(sql: str, values: Values) -> Sequence[Row]:
        looks.append(time.monotonic())
        if len(looks) > 1:
            has_looked.set()
        await asyncio.sleep(0.02)
        return await read(sql, values)

    monkeypatch.setattr(sqlite, "rows", slow)
    kinds = [JobKind("errand", Errand()), JobKind("wait", Errand(), is_waiting=True)]
    async with at_work(working.worker(sqlite, Errand(), kinds=kinds, poll_s=0.1)):
        async with asyncio.timeout(PATIENCE_S):
            await has_looked.wait()

    # Five polls, where two kinds of lanes are free but one statement asks for both.
    assert looks[1] - looks[0] >= 0.5


async def test_a_recurring_task_continues_after_a_failure(database: Database) -> None:
    times = 0
    is_over = asyncio.Event()

    async def sweep() -> None:
        nonlocal times
        times += 1
        if times == 1:
            raise errors.unavailable("Not now.")
        if times == 2:
            raise ValueError("a fault")
        is_over.set()

    recurring = [Recurring("sweep", 0.01, sweep)]
    async with at_work(working.worker(database, Errand(), recurring=recurring)):
        await asyncio.wait_for(is_over.wait(), PATIENCE_S)

    assert times >= 3
