"""A worker counts the outcomes of its jobs and how long they ran."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest

from bowerbird import errors
from bowerbird.clock import system_clock
from bowerbird.jobs.worker import Failed, JobKind, Paused, Progress, Worker
from bowerbird.model.jobs import Job
from bowerbird.storage.database import Database
from bowerbird.storage.upkeep.jobs import JobStore
from tests.support import waiting, working
from tests.support.working import add, at_work, new_account, until

pytestmark = pytest.mark.anyio


def metrics(worker: Worker) -> dict[str, float]:
    """The values of all series by their name and labels."""
    registry = CollectorRegistry()
    registry.register(worker.metrics)
    lines = generate_latest(registry).decode().splitlines()
    series = (line.rpartition(" ") for line in lines if not line.startswith("#"))
    return {name: float(value) for name, _, value in series if "_created" not in name}


def attempts(outcome: str, kind: str = "errand") -> str:
    return f'bowerbird_job_attempts_total{{kind="{kind}",outcome="{outcome}"}}'


def raising(*problems: Exception | None) -> Callable[[Job, Progress], Awaitable[bytes | None]]:
    """A job that raises these in its attempts; None lets it succeed."""
    left = list(problems)

    async def run(_job: Job, _progress: Progress) -> bytes | None:
        if (problem := left.pop(0)) is not None:
            # The same error is raised again and must not grow by a traceback each time.
            raise problem.with_traceback(None)
        return None

    return run


@pytest.mark.parametrize(
    ("problems", "state", "outcomes"),
    [
        ([None], "completed", {"completed": 1}),
        ([Failed("no")], "failed", {"failed": 1}),
        ([errors.unavailable("busy"), None], "completed", {"postponed": 1, "completed": 1}),
        ([RuntimeError("bug")] * 3, "failed", {"postponed": 2, "failed": 1}),
        ([Paused(), Paused(), None], "completed", {"paused": 2, "completed": 1}),
    ],
)
async def test_every_attempt_is_counted_by_its_outcome(
    database: Database, problems: list[Exception | None], state: str, outcomes: dict[str, int]
) -> None:
    account_id = await new_account(database)
    job_id = await add(database, account_id)
    worker = working.worker(database, raising(*problems))

    async def counted() -> bool:
        found = metrics(worker)
        return {name: found.get(attempts(name)) for name in outcomes} == outcomes

    async with at_work(worker):
        await until(database, account_id, job_id, state)
        assert await waiting.until(counted)

    found = metrics(worker)
    assert found['bowerbird_job_seconds_count{kind="errand"}'] == len(problems)
    assert found['bowerbird_job_seconds_bucket{kind="errand",le="+Inf"}'] == len(problems)


async def blocked_job(database: Database) -> tuple[Worker, asyncio.Event, int, str]:
    """A worker whose job never ends, and the event that tells that it runs."""
    account_id = await new_account(database)
    job_id = await add(database, account_id)
    is_running = asyncio.Event()

    async def blocked(_job: Job, _progress: Progress) -> bytes | None:
        is_running.set()
        await asyncio.Event().wait()
        return None

    return working.worker(database, blocked), is_running, account_id, job_id


async def test_a_lost_lease_is_counted(database: Database) -> None:
    worker, is_running, account_id, job_id = await blocked_job(database)

    async def is_counted() -> bool:
        return metrics(worker).get(attempts("lease_lost")) == 1

    async with at_work(worker):
        await is_running.wait()
        await JobStore(database).cancel(account_id, job_id, now=system_clock())
        assert await waiting.until(is_counted)
    assert attempts("released") not in metrics(worker)


async def test_a_job_that_a_stopping_worker_puts_back_is_counted(database: Database) -> None:
    worker, is_running, _, _ = await blocked_job(database)
    async with at_work(worker):
        await is_running.wait()
    assert metrics(worker)[attempts("released")] == 1


async def test_kinds_are_counted_separately(database: Database) -> None:
    account_id = await new_account(database)
    names = ("errand", "chore")
    kinds = [JobKind(name, raising(None)) for name in names]
    for name in names:
        await add(database, account_id, name)
    worker = working.worker(database, raising(), kinds=kinds)

    async def counted() -> bool:
        found = metrics(worker)
        return [found.get(attempts("completed", name)) for name in names] == [1, 1]

    async with at_work(worker):
        assert await waiting.until(counted)
