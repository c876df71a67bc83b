"""Workers do each job once, lose none, and let nobody wait for another account's work."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from bowerbird import errors
from bowerbird.clock import MICROSECONDS, system_clock
from bowerbird.jobs.leases import Lost, Progress
from bowerbird.jobs.worker import Failed, Kind, Recurring, Worker
from bowerbird.model.jobs import DIGESTS, EMBEDDING, EXPORTS, Job
from bowerbird.storage.database import Database, Row, Values
from bowerbird.storage.jobs import JobStore
from tests.support import waiting, working
from tests.support.working import add, at_work, new_account, shown, until

pytestmark = pytest.mark.anyio


class Errand:
    """Notes what it was asked to do; waits in the middle of it for as long as a test wants."""

    def __init__(self, *outcomes: Any, is_held: bool = False) -> None:
        self._outcomes = list(outcomes)
        self.begun: list[Job] = []
        self.ended: list[Job] = []
        self.begin = asyncio.Event()
        self.go_on = asyncio.Event()
        self.is_lost = asyncio.Event()
        self._more = asyncio.Condition()
        if not is_held:
            self.go_on.set()

    async def until_begun(self, count: int) -> None:
        async with asyncio.timeout(5), self._more:
            await self._more.wait_for(lambda: len(self.begun) >= count)

    async def __call__(self, job: Job, progress: Progress) -> bytes | None:
        self.begun.append(job)
        async with self._more:
            self._more.notify_all()
        await progress(0, 2)
        self.begin.set()
        await self.go_on.wait()
        try:
            await progress(2, 2)
        except Lost:
            self.is_lost.set()
            raise
        self.ended.append(job)
        outcome = self._outcomes.pop(0) if self._outcomes else b'{"done":true}'
        if isinstance(outcome, Exception):
            raise outcome
        return bytes(outcome)


async def test_a_job_is_done_and_keeps_its_result(database: Database) -> None:
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
    assert [(job.parameters, job.tries) for job in errand.begun] == [(b'{"a":1}', 1)]


async def test_several_workers_do_each_job_once(database: Database) -> None:
    account_id = await new_account(database)
    errand = Errand()
    job_ids = [await add(database, account_id) for _ in range(20)]

    async with at_work(*(working.worker(database, errand) for _ in range(3))):
        for job_id in job_ids:
            await until(database, account_id, job_id, "completed")

    assert sorted(job.job_id for job in errand.begun) == sorted(job_ids)


async def test_a_job_that_fails_is_tried_three_times_and_says_why(database: Database) -> None:
    account_id = await new_account(database)
    errand = Errand(*[errors.unavailable("The disk is full.") for _ in range(3)])
    job_id = await add(database, account_id)

    async with at_work(working.worker(database, errand)):
        failed = await until(database, account_id, job_id, "failed")

    assert (failed.error, failed.tries) == ("The disk is full.", 3)
    assert [job.tries for job in errand.begun] == [1, 2, 3]


async def test_a_fault_tells_the_caller_nothing_of_itself(database: Database) -> None:
    account_id = await new_account(database)
    errand = Errand(*[KeyError("secret") for _ in range(3)])
    job_id = await add(database, account_id)

    async with at_work(working.worker(database, errand)):
        failed = await until(database, account_id, job_id, "failed")

    assert failed.error == f"Something went wrong; the log tells of it ({job_id})."


async def test_what_cannot_be_mended_is_not_tried_again(database: Database) -> None:
    account_id = await new_account(database)
    errand = Errand(Failed("Too large for a page."))
    job_id = await add(database, account_id)

    async with at_work(working.worker(database, errand)):
        failed = await until(database, account_id, job_id, "failed")

    assert (failed.error, len(errand.begun)) == ("Too large for a page.", 1)


async def test_a_second_try_may_succeed(database: Database) -> None:
    account_id = await new_account(database)
    errand = Errand(errors.unavailable("Not now."))
    job_id = await add(database, account_id)

    async with at_work(working.worker(database, errand)):
        done = await until(database, account_id, job_id, "completed")

    assert (done.tries, done.error) == (2, None)


async def test_the_lease_is_kept_while_a_job_is_silent(database: Database) -> None:
    account_id = await new_account(database)
    errand = Errand(is_held=True)
    job_id = await add(database, account_id)

    workers = [working.worker(database, errand, lease_s=LEASE_S, heartbeat_s=0.1) for _ in range(2)]
    async with at_work(*workers):
        await errand.begin.wait()
        first = await lease_end(database)

        async def has_outlived_two_leases() -> bool:
            return await lease_end(database) > first + 2 * LEASE_S * MICROSECONDS

        await waiting.until(has_outlived_two_leases)
        errand.go_on.set()
        await until(database, account_id, job_id, "completed")

    assert len(errand.begun) == 1


LEASE_S = 0.4


async def lease_end(database: Database) -> int:
    ((end,),) = await database.rows("SELECT due_at FROM job", {})
    return int(end)


async def test_a_job_without_a_heartbeat_is_taken_up_and_its_first_worker_loses_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_every_progress(monkeypatch)
    account_id = await new_account(database)
    first, second = Errand(b'"first"', is_held=True), Errand(b'"second"', is_held=True)
    job_id = await add(database, account_id)

    async with at_work(working.worker(database, first, lanes=1, lease_s=0.3, heartbeat_s=60)):
        await first.begin.wait()
        async with at_work(working.worker(database, second)):
            await asyncio.wait_for(second.begin.wait(), 5)
            first.go_on.set()
            await asyncio.wait_for(first.is_lost.wait(), 5)
            second.go_on.set()
            done = await until(database, account_id, job_id, "completed")

    assert (done.result, done.tries) == (b'"second"', 2)
    assert first.ended == []


async def test_a_job_whose_workers_die_three_times_fails(database: Database) -> None:
    account_id = await new_account(database)
    job_id = await add(database, account_id)
    store = JobStore(database)
    for _ in range(3):
        claimed = await store.claim(["errand"], EXPORTS, lease_s=0, now=system_clock())
        assert claimed is not None

    assert await store.claim(["errand"], EXPORTS, lease_s=0, now=system_clock()) is None

    failed = await shown(database, account_id, job_id)
    assert failed.state == "failed"
    assert failed.error == "At the last of 3 tries its worker ended in mid-work."


async def test_an_earlier_reason_is_kept_when_the_last_try_dies(database: Database) -> None:
    account_id = await new_account(database)
    job_id = await add(database, account_id)
    store = JobStore(database)
    for _ in range(3):
        claimed = await store.claim(["errand"], EXPORTS, lease_s=0, now=system_clock())
        assert claimed is not None
        if claimed.tries == 1:
            await store.put_off(claimed, "The disk is full.", pause_s=0)

    await store.claim(["errand"], EXPORTS, lease_s=0, now=system_clock())

    assert (await shown(database, account_id, job_id)).error == (
        "The disk is full. At the last of 3 tries its worker ended in mid-work."
    )


async def test_a_stopping_worker_gives_its_job_back_untried(database: Database) -> None:
    account_id = await new_account(database)
    errand = Errand(is_held=True)
    job_id = await add(database, account_id)

    async with at_work(working.worker(database, errand)):
        await errand.begin.wait()

    pending = await shown(database, account_id, job_id)
    assert (pending.state, pending.tries) == ("pending", 0)
    assert await JobStore(database).is_any_due(["errand"], EXPORTS)


async def test_a_job_is_given_back_that_had_no_time_to_begin(database: Database) -> None:
    account_id = await new_account(database)
    job_id = await add(database, account_id)
    errand, stopping = Errand(), asyncio.Event()

    def stops_with_the_claim() -> int:
        stopping.set()
        return system_clock()

    worker = Worker(database, [Kind("errand", errand)], [], stops_with_the_claim)
    await worker.run(stopping)

    assert errand.begun == []
    pending = await shown(database, account_id, job_id)
    assert (pending.state, pending.tries) == ("pending", 0)


def write_every_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """Instead of noting it and writing once a second."""
    monkeypatch.setattr("bowerbird.jobs.leases._WRITE_S", 0.0)


async def test_a_cancelled_job_ends_at_its_next_progress(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_every_progress(monkeypatch)
    account_id = await new_account(database)
    errand = Errand(is_held=True)
    job_id = await add(database, account_id)

    async with at_work(working.worker(database, errand, heartbeat_s=60)):
        await errand.begin.wait()
        assert await JobStore(database).cancel(account_id, job_id, now=system_clock())
        errand.go_on.set()
        await asyncio.wait_for(errand.is_lost.wait(), 5)

    assert (len(errand.begun), errand.ended) == (1, [])
    cancelled = await shown(database, account_id, job_id)
    assert (cancelled.state, cancelled.error) == ("failed", "It was cancelled.")


async def test_one_account_s_many_jobs_do_not_delay_another_s_one(database: Database) -> None:
    many, one = await new_account(database), await new_account(database)
    for _ in range(30):
        await add(database, many)
    errand = Errand(is_held=True)

    async with at_work(working.worker(database, errand, lanes=1)):
        await errand.begin.wait()
        job_id = await add(database, one)
        errand.go_on.set()
        await until(database, one, job_id, "completed")
        served = [job.account_id for job in errand.begun]

    assert served.index(one) == 1


async def test_an_urgent_job_comes_first(database: Database) -> None:
    account_id = await new_account(database)
    errand = Errand()
    await add(database, account_id, priority=EMBEDDING)
    urgent = await add(database, account_id, priority=EXPORTS)

    async with at_work(working.worker(database, errand, lanes=1)):
        await until(database, account_id, urgent, "completed")

    assert errand.begun[0].job_id == urgent


async def test_long_jobs_leave_a_lane_for_urgent_ones(database: Database) -> None:
    accounts = [await new_account(database) for _ in range(4)]
    slow, quick = Errand(is_held=True), Errand()
    for account_id in accounts:
        await add(database, account_id, "embed", priority=EMBEDDING)
    kinds = [Kind("embed", slow), Kind("errand", quick)]

    async with at_work(working.worker(database, slow, kinds=kinds, lanes=3)):
        await slow.begin.wait()
        job_id = await add(database, accounts[0])
        await until(database, accounts[0], job_id, "completed")
        assert len(slow.begun) == 2


async def test_an_account_s_long_jobs_leave_a_lane_for_others(database: Database) -> None:
    many, one = await new_account(database), await new_account(database)
    held, quick = Errand(is_held=True), Errand()
    for _ in range(5):
        await add(database, many)
    kinds = [Kind("errand", held), Kind("quick", quick)]

    async with at_work(working.worker(database, held, kinds=kinds, lanes=3)):
        await held.until_begun(2)
        # The second proves that the worker has looked again since the first was done.
        for _ in range(2):
            job_id = await add(database, one, "quick")
            await until(database, one, job_id, "completed")
        assert [job.account_id for job in held.begun] == [many, many]


async def test_digests_leave_a_lane_for_exports(database: Database) -> None:
    accounts = [await new_account(database) for _ in range(5)]
    held, quick = Errand(is_held=True), Errand()
    for account_id in accounts[1:]:
        await add(database, account_id, "digest", priority=DIGESTS)
    kinds = [Kind("digest", held), Kind("errand", quick)]

    async with at_work(working.worker(database, held, kinds=kinds, lanes=3)):
        await held.until_begun(2)
        # The second proves that the worker has looked again since the first was done.
        for _ in range(2):
            job_id = await add(database, accounts[0])
            await until(database, accounts[0], job_id, "completed")
        assert len(held.begun) == 2


async def test_the_only_lane_is_for_everything(database: Database) -> None:
    account_id = await new_account(database)
    job_id = await add(database, account_id, priority=EMBEDDING)

    async with at_work(working.worker(database, Errand(), lanes=1)):
        done = await until(database, account_id, job_id, "completed")

    assert done.state == "completed"


async def test_an_unknown_kind_is_left_to_a_worker_that_knows_it(database: Database) -> None:
    account_id = await new_account(database)
    unknown = await add(database, account_id, "of a later release")
    known = await add(database, account_id)

    async with at_work(working.worker(database, Errand())):
        await until(database, account_id, known, "completed")

    assert (await shown(database, account_id, unknown)).state == "pending"


async def test_a_wake_up_is_quicker_than_looking(database: Database) -> None:
    account_id = await new_account(database)
    worker = working.worker(database, Errand(), poll_s=30)

    async with at_work(worker):
        # The end of the first lets the worker look once more; then it would wait for long.
        for _ in range(2):
            job_id = await add(database, account_id)
            worker.wake()
            done = await until(database, account_id, job_id, "completed", patience_s=5)

    assert done.state == "completed"


async def test_a_worker_without_work_writes_nothing(
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
        await asyncio.wait_for(has_looked.wait(), 5)

    assert sqlite.generation() == generation


async def test_what_recurs_goes_on_after_a_failure(database: Database) -> None:
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
        await asyncio.wait_for(is_over.wait(), 5)

    assert times >= 3
