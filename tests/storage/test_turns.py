"""Finding whose turn it is costs little, however long the queue is."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from bowerbird.clock import system_clock
from bowerbird.model.jobs import DIGESTS, EMBEDDING, EXPORTS
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.jobs import JobStore
from bowerbird.storage.postgres.database import PostgresDatabase
from bowerbird.storage.sqlite.database import SqliteDatabase
from tests.support import databases
from tests.support.postgres import ThrowawayPostgres
from tests.support.working import add, new_account

pytestmark = pytest.mark.anyio

KINDS = ["errand"]
# SQLite's own measure of work. Reading a row of the queue takes about ten steps.
_STEPS_AT_ONCE = 100
MOST_STEPS = 50_000
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
    """How many steps SQLite takes meanwhile, in hundreds, reading and writing."""
    steps: list[int] = []
    connections: list[Any] = [database._reader, database._writer._connection]  # noqa: SLF001 - counted where they are taken

    def note() -> bool:
        steps.append(1)
        return False

    for connection in connections:
        connection.set_progress_handler(note, _STEPS_AT_ONCE)
    try:
        yield steps
    finally:
        for connection in connections:
            connection.set_progress_handler(None)


@pytest.mark.parametrize(("accounts", "each"), [(1, 8_000), (400, 20), (8_000, 1)])
async def test_a_claim_takes_few_steps(sqlite: SqliteDatabase, accounts: int, each: int) -> None:
    await fill(sqlite, accounts, each)

    with counted(sqlite) as steps:
        job = await JobStore(sqlite).claim(KINDS, EMBEDDING, lease_s=60, now=system_clock())

    assert job is not None
    assert len(steps) * _STEPS_AT_ONCE < MOST_STEPS


async def test_a_queue_that_waits_takes_few_steps(sqlite: SqliteDatabase) -> None:
    later = system_clock() * 2
    await fill(sqlite, 4_000, 2, due_at=later)
    await fill(sqlite, 4_000, 1, priority=DIGESTS, due_at=later)

    with counted(sqlite) as steps:
        job = await JobStore(sqlite).claim(KINDS, EMBEDDING, lease_s=60, now=system_clock())

    assert job is None
    assert len(steps) * _STEPS_AT_ONCE < MOST_STEPS


async def test_postgres_walks_along_the_index(postgres: ThrowawayPostgres) -> None:
    async with databases.fresh_postgres(postgres) as database:
        await check_postgres(database)


async def check_postgres(database: Database) -> None:
    await fill(database, 2_000, 4)
    store = JobStore(database)

    async def analyze(transaction: Transaction) -> None:
        await transaction.run("ANALYZE job", {})

    await database.write(analyze)
    plan = await explained(
        store, "turns", kinds=KINDS, priority=EXPORTS, after=0, limit=100
    ) + await explained(store, "next_priority", above=-1, most_priority=EMBEDDING)

    assert "job_turn" in plan
    assert "Seq Scan on job" not in plan


async def explained(store: JobStore, name: str, **values: Any) -> str:
    sql = f"EXPLAIN {store._text(name)}"  # noqa: SLF001 - the very statement
    rows = await store._database.rows(sql, values)  # noqa: SLF001 - as above
    return "\n".join(str(row[0]) for row in rows)


async def test_an_urgent_job_is_found_behind_many_accounts(database: Database) -> None:
    await fill(database, 1_000, 1, priority=EMBEDDING)
    urgent = await add(database, await new_account(database))

    job = await JobStore(database).claim(KINDS, EMBEDDING, lease_s=60, now=system_clock())

    assert job is not None
    assert job.job_id == urgent


async def test_where_many_wait_everybody_s_turn_comes(database: Database) -> None:
    await fill(database, 300, 1)
    store = JobStore(database)

    served = set()
    for _ in range(300):
        job = await store.claim(KINDS, EMBEDDING, lease_s=60, now=system_clock())
        assert job is not None
        served.add(job.account_id)
        await store.complete(job, None, total=0, now=1, expires_at=None)

    assert len(served) == 300
    assert not await store.is_any_due(KINDS, EMBEDDING)


async def test_an_account_that_is_left_out_gets_no_turn(database: Database) -> None:
    one, other = await new_account(database), await new_account(database)
    await add(database, one)
    second = await add(database, other)
    store = JobStore(database)

    options: dict[str, Any] = {"lease_s": 60, "now": system_clock(), "except_of": {one}}
    job = await store.claim(KINDS, EMBEDDING, **options)

    assert job is not None
    assert job.job_id == second
    assert await store.claim(KINDS, EMBEDDING, **options) is None
