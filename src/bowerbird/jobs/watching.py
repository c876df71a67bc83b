"""Counts the jobs now and then, for whoever looks at /metrics."""

import asyncio
from typing import Final

import structlog

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Refusal
from bowerbird.model.jobs import UNFINISHED, JobCount
from bowerbird.storage.database import Database
from bowerbird.storage.jobs import JobStore
from bowerbird.wire.metrics import RequestMetrics

_EVERY_S: Final = 15.0
# All jobs of a month are counted less often than those that wait.
_LOOKS_AT_ALL: Final = 20


class JobWatch:
    def __init__(self, database: Database, clock: Clock, metrics: RequestMetrics) -> None:
        self._store = JobStore(database)
        self._clock = clock
        self._metrics = metrics
        self._log = structlog.get_logger()
        self._looks = 0
        self._ended: list[JobCount] = []

    async def look(self) -> None:
        counts = await self._counts()
        now = self._clock()
        self._metrics.jobs = [
            (each.kind, each.state, each.count, (now - each.oldest_at) / MICROSECONDS)
            for each in counts
        ]

    async def _counts(self) -> list[JobCount]:
        is_of_all = self._looks % _LOOKS_AT_ALL == 0
        counts = await self._store.counts(only_unfinished=not is_of_all)
        self._looks += 1
        if is_of_all:
            self._ended = [each for each in counts if each.state not in UNFINISHED]
            return counts
        return [*counts, *self._ended]

    async def keep_looking(self) -> None:
        """Runs beside the server until it is cancelled."""
        while True:
            try:
                await self.look()
            except Refusal as refused:
                self._log.warning("jobs not counted", reason=refused.sentence)
            except Exception:  # noqa: BLE001 - it is tried again at the next time
                self._log.exception("jobs not counted")
            await asyncio.sleep(_EVERY_S)
