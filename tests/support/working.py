"""Jobs for tests: accounts that own them, kinds that can be observed, and a fast worker."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from bowerbird.clock import system_clock
from bowerbird.jobs.worker import JobKind, Progress, Recurring, Worker
from bowerbird.model.accounts import Membership
from bowerbird.model.jobs import EXPORTS, Job, JobResponse
from bowerbird.model.keys import new_account_id
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Database, Transaction, Writable
from bowerbird.storage.upkeep.jobs import JobStore
from tests.support import waiting

Run = Callable[[Job, Progress], Awaitable[bytes | None]]


async def new_account(database: Database) -> int:
    account_id = new_account_id()
    email = f"{account_id}@example.com"
    await AccountStore(database).create(Membership(account_id, email, "pro", 0, 0), email)
    return account_id


async def add(
    database: Database,
    account_id: int,
    kind: str = "errand",
    *,
    priority: int = EXPORTS,
    unique: str | None = None,
    parameters: bytes = b"{}",
) -> str:
    async def work(transaction: Transaction) -> str:
        return await JobStore(database).add(
            Writable(transaction, account_id),
            kind,
            parameters,
            priority=priority,
            now=system_clock(),
            unique=unique,
        )

    return await database.write(work)


async def shown(database: Database, account_id: int, job_id: str) -> JobResponse:
    found = await JobStore(database).one(account_id, job_id)
    assert found is not None
    return found


async def until(
    database: Database,
    account_id: int,
    job_id: str,
    *states: str,
    patience_s: float = waiting.PATIENCE_S,
) -> JobResponse:
    """Waits until the job is in one of these states, and returns it."""

    async def job_in_time() -> JobResponse | None:
        job = await shown(database, account_id, job_id)
        return job if job.state in states else None

    found = await waiting.until(job_in_time, patience_s)
    assert found is not None
    return found


def worker(
    database: Database,
    run: Run,
    *,
    recurring: Sequence[Recurring] = (),
    kinds: Sequence[JobKind] | None = None,
    **options: Any,
) -> Worker:
    """A worker with short intervals. No lease expires on a busy machine, unless a test sets it."""
    quick = {"lease_s": 60.0, "heartbeat_s": 0.2, "poll_s": 0.02, "pauses_s": (0.05, 0.05)}
    return Worker(
        database,
        [JobKind("errand", run)] if kinds is None else kinds,
        recurring,
        system_clock,
        **{**quick, **options},
    )


@asynccontextmanager
async def at_work(*workers: Worker) -> AsyncIterator[None]:
    """Runs the workers, and stops them gracefully at the end."""
    stopping = asyncio.Event()
    running = [asyncio.create_task(each.run(stopping)) for each in workers]
    try:
        yield
    finally:
        stopping.set()
        await asyncio.gather(*running)


async def until_idle(worker: Worker, database: Database, account_id: int) -> None:
    """Runs the worker until all jobs of an account have ended."""

    async def is_idle() -> bool:
        sql = "SELECT count(*) FROM job WHERE account_id = :id AND completed_at IS NULL"
        return bool((await database.rows(sql, {"id": account_id}))[0][0] == 0)

    async with at_work(worker):
        await waiting.until(is_idle)
