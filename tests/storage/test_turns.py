"""Claiming a job is cheap, however long the queue is."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from bowerbird.clock import MICROSECONDS, system_clock
from bowerbird.model.jobs import DIGESTS, EMBEDDING, EXPORTS
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.postgres.database import PostgresDatabase
from bowerbird.storage.sqlite.database import SqliteDatabase
from bowerbird.storage.upkeep.jobs import JobStore
from tests.support import databases
from tests.support.postgres import ThrowawayPostgres
from tests.support.working import add, new_account

pytestmark = pytest.mark.anyio

KINDS = ["errand"]
# SQLite virtual machine instructions. Reading a row of the queue takes about ten.
_STEPS_PER_CALL = 100
MAX_STEPS = 50_000
FILL = """
INSERT INTO job (account_id, job_id, kind, parameters, priority, state, tries, fence, due_at,
                 done, total, created_at)
VALUES (:account_id, :job_id, 'errand', '{{}}', :priority, 'pending', 0, 0, :due_at, 0, 0, 0)
"""


async def fill(
    database: Database, accounts: int, each: int, *, priority: int = EXPORTS, due_at: int = 1
) -> None:
    step = 2**63 // (accounts + 1)
    values = [
        {
            "account_id": step * (account + 1) + priority,
            "job_id": f"{priority}-{number}-{due_at}",
            "priority": priority,
            "due_at": due_at + number,
        }
        for account in range(accounts)
        for number in range(each)
    ]
    sql = FILL.replace("'{{}}'", "CAST('x' AS bytea)" if is_postgres(database) else "x'7b7d'")

    async def work(transaction: Transaction) -> None:
        await transaction.run_many(sql, values)

    await database.write(work)


def is_postgres(database: Database) -> bool:
    return isinstance(database, PostgresDatabase)


@contextmanager
def counted(database: SqliteDatabase) -> Iterator[list[int]]:
    """Counts the SQLite instructions of the block, in hundreds, for reads and writes."""
    steps: list[int] = []
    connections: list[Any] = [database._reader, database._writer._connection]  # noqa: SLF001 - no public access to the connections

    def note() -> bool:
        steps.append(1)
        return False

    for connection in connections:
        connection.set_progress_handler(note, _STEPS_PER_CALL)
    try:
        yield steps
    finally:
        for connection in connections:
            connection.set_progress_handler(None)


@pytest.mark.parametrize(("accounts", "each"), [(1, 8_000), (400, 20), (8_000, 1)])
async def test_a_claim_runs_few_instructions(
    sqlite: SqliteDatabase, accounts: int, each: int
) -> None:
    await fill(sqlite, accounts, each)

    with counted(sqlite) as steps:
        job = await JobStore(sqlite).claim(KINDS, EMBEDDING, lease_s=60, now=system_clock())

    assert job is not None
    assert len(steps) * _STEPS_PER_CALL < MAX_STEPS


async def test_looking_at_a_queue_without_due_jobs_is_cheap(sqlite: SqliteDatabase) -> None:
    later = system_clock() + 60 * MICROSECONDS
    await fill(sqlite, 4_000, 2, due_at=later)
    await fill(sqlite, 4_000, 1, priority=DIGESTS, due_at=later)

    with counted(sqlite) as steps:
        job = await JobStore(sqlite).claim(KINDS, EMBEDDING, lease_s=60, now=system_clock())

    assert job is None
    assert len(steps) * _STEPS_PER_CALL < MAX_STEPS


async def test_postgres_uses_the_index_to_find_a_job(postgres: ThrowawayPostgres) -> None:
    async with databases.fresh_postgres(postgres) as database:
        await check_postgres(database)


async def check_postgres(database: Database) -> None:
    await fill(database, 2_000, 4)
    store = JobStore(database)

    async def analyze(transaction: Transaction) -> None:
        await transaction.run("ANALYZE job", {})

    await database.write(analyze)
    plan = await explained(
        store, "turns", kinds=KINDS, priority=EXPORTS, after=0, limit=100, max_ahead=1
    ) + await explained(store, "next_priority", above=-1, max_priority=EMBEDDING)

    assert "job_turn" in plan
    assert "Seq Scan on job" not in plan


async def explained(store: JobStore, name: str, **values: Any) -> str:
    sql = f"EXPLAIN {store._sql[name]}"  # noqa: SLF001 - explains the statement itself
    rows = await store._database.rows(sql, values)  # noqa: SLF001 - as above
    return "\n".join(str(row[0]) for row in rows)


async def test_an_urgent_job_is_found_among_many_accounts(database: Database) -> None:
    await fill(database, 1_000, 1, priority=EMBEDDING)
    urgent = await add(database, await new_account(database))

    job = await JobStore(database).claim(KINDS, EMBEDDING, lease_s=60, now=system_clock())

    assert job is not None
    assert job.job_id == urgent


async def test_every_account_is_served_when_many_have_jobs(database: Database) -> None:
    await fill(database, 300, 1)
    store = JobStore(database)

    served = set()
    for _ in range(300):
        job = await store.claim(KINDS, EMBEDDING, lease_s=60, now=system_clock())
        assert job is not None
        served.add(job.account_id)
        await store.complete(job, None, total=0, now=1, expires_at=None)

    assert len(served) == 300
    assert await store.claim(KINDS, EMBEDDING, lease_s=60, now=system_clock()) is None


async def test_an_excluded_account_gets_no_turn(database: Database) -> None:
    one, other = await new_account(database), await new_account(database)
    await add(database, one)
    second = await add(database, other)
    store = JobStore(database)

    options: dict[str, Any] = {"lease_s": 60, "now": system_clock(), "excluded_accounts": {one}}
    job = await store.claim(KINDS, EMBEDDING, **options)

    assert job is not None
    assert job.job_id == second
    assert await store.claim(KINDS, EMBEDDING, **options) is None
