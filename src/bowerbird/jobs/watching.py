"""Counts the jobs regularly for /metrics."""

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
# Counting all jobs of a month is slow, so that only happens every twentieth time.
_FULL_COUNT_EVERY: Final = 20


class JobWatch:
    def __init__(self, database: Database, clock: Clock, metrics: RequestMetrics) -> None:
        self._store = JobStore(database)
        self._clock = clock
        self._metrics = metrics
        self._log = structlog.get_logger()
        self._rounds = 0
        self._finished: list[JobCount] = []

    async def refresh(self) -> None:
        counts = await self._counts()
        now = self._clock()
        self._metrics.jobs = [
            (each.kind, each.state, each.count, (now - each.oldest_at) / MICROSECONDS)
            for each in counts
        ]

    async def _counts(self) -> list[JobCount]:
        is_full = self._rounds % _FULL_COUNT_EVERY == 0
        counts = await self._store.counts(only_unfinished=not is_full)
        self._rounds += 1
        if is_full:
            self._finished = [each for each in counts if each.state not in UNFINISHED]
            return counts
        return [*counts, *self._finished]

    async def keep_refreshing(self) -> None:
        """Counts regularly until it is cancelled."""
        while True:
            try:
                await self.refresh()
            except Refusal as refused:
                self._log.warning("jobs not counted", reason=refused.sentence)
            except Exception:  # noqa: BLE001 - the next round tries again
                self._log.exception("jobs not counted")
            await asyncio.sleep(_EVERY_S)
