"""Counts the jobs now and then, for whoever looks at /metrics."""

import asyncio
from typing import Final

import structlog

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Refusal
from bowerbird.storage.database import Database
from bowerbird.storage.jobs import JobStore
from bowerbird.wire.measures import Measures

_EVERY_S: Final = 15.0


class JobWatch:
    def __init__(self, database: Database, clock: Clock, measures: Measures) -> None:
        self._store = JobStore(database)
        self._clock = clock
        self._measures = measures
        self._log = structlog.get_logger()

    async def look(self) -> None:
        now = self._clock()
        self._measures.jobs = [
            (each.kind, each.state, each.count, (now - each.oldest_at) / MICROSECONDS)
            for each in await self._store.counts()
        ]

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
