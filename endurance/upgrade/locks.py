"""Which locks the steps of a migration take, and how long requests wait for them."""

import asyncio
import threading
import time
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, Self

import asyncpg

from endurance.upgrade.releases import Step

_SAMPLE_S: Final = 0.02
# The locks that stop writers, and one of them readers too.
_BLOCKING: Final = """
SELECT c.relname, l.mode
  FROM pg_locks AS l
  JOIN pg_class AS c ON c.oid = l.relation
 WHERE l.pid = pg_backend_pid() AND c.relkind = 'r'
   AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
 ORDER BY 1, 2
"""
_TABLES: Final = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 2200"
# Only waits for tables: requests of one account also wait for each other's rows.
_WAITING: Final = """
SELECT c.relname, l.mode, CAST(extract(epoch FROM clock_timestamp() - l.waitstart) AS float8)
  FROM pg_locks AS l
  JOIN pg_class AS c ON c.oid = l.relation
  JOIN pg_stat_activity AS a ON a.pid = l.pid
 WHERE NOT l.granted AND l.locktype = 'relation' AND l.waitstart IS NOT NULL
   AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
   AND a.application_name = 'bowerbird'
"""


class StepCost(NamedTuple):
    step: Step
    seconds: float
    # The tables with posts that it locks against writers or readers, with the mode.
    locks: list[str]


def measure(url: str, steps: Sequence[Step]) -> list[StepCost]:
    """Applies the steps to a copy of the database that nobody else uses."""
    return asyncio.run(_measure(url, steps))


async def _measure(url: str, steps: Sequence[Step]) -> list[StepCost]:
    connection: Any = await asyncpg.connect(url)
    try:
        costs = []
        for step in steps:
            known = {row[0] for row in await connection.fetch(_TABLES)}
            started = time.monotonic()
            async with connection.transaction():
                await connection.execute(step.sql)
                held = await connection.fetch(_BLOCKING)
            seconds = time.monotonic() - started
            locks = [f"{mode} on {table}" for table, mode in held if table in known]
            costs.append(StepCost(step, seconds, locks))
        return costs
    finally:
        await connection.close()


class _Connected(threading.Thread):
    """A thread with a connection of its own, from `with` to its end."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self._url = url
        self._ready = threading.Event()
        self._ending = threading.Event()

    def __enter__(self) -> Self:
        self.start()
        self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self.join()

    def run(self) -> None:
        asyncio.run(self._use())

    async def _use(self) -> None:
        connection: Any = await asyncpg.connect(self._url)
        try:
            await self._work(connection)
        finally:
            await connection.close()

    async def _work(self, connection: Any) -> None:
        raise NotImplementedError


class LockWatch(_Connected):
    """Samples for how long requests of nodes wait for the lock of a table."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        # By table and mode: the longest wait that was seen, in seconds.
        self.longest: dict[str, float] = {}

    async def _work(self, connection: Any) -> None:
        self._ready.set()
        while not self._ending.is_set():
            for table, mode, seconds in await connection.fetch(_WAITING):
                name = f"{mode} on {table}"
                self.longest[name] = max(self.longest.get(name, 0.0), seconds)
            await asyncio.sleep(_SAMPLE_S)


class LongReader(_Connected):
    """Holds the locks of a backup: pg_dump reads every table in one transaction."""

    def __init__(self, url: str, seconds: float) -> None:
        super().__init__(url)
        self._seconds = seconds

    async def _work(self, connection: Any) -> None:
        tables = [row[0] for row in await connection.fetch(_TABLES)]
        async with connection.transaction():
            for table in tables:
                await connection.execute(f'LOCK TABLE "{table}" IN ACCESS SHARE MODE')
            self._ready.set()
            await asyncio.to_thread(self._ending.wait, self._seconds)
