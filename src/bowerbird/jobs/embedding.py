"""Embedding jobs: compute vectors for the posts of paid accounts, at the lowest priority."""

import time
from typing import Final

import msgspec

from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.jobs.worker import Failed, JobKind, Paused, Progress, Recurring
from bowerbird.library.vectors.builds import VectorBuilds
from bowerbird.library.vectors.sweeps import BUILD_EVERY_S, JOB, REMOVE_EVERY_S, VectorSweeps
from bowerbird.model.jobs import Job
from bowerbird.search.meaning.models import Models
from bowerbird.storage.database import Database

_EMBEDDED: Final = "embedded"
# A library of 100,000 posts takes most of an hour; other accounts get turns in between.
_TURN_S: Final = 30.0


class EmbeddingJobs:
    def __init__(
        self, database: Database, models: Models, clock: Clock, turn_s: float = _TURN_S
    ) -> None:
        self._turn_s = turn_s
        self._builds = VectorBuilds(database, models, clock)
        self._sweeps = VectorSweeps(database, models, clock)

    @property
    def kind(self) -> JobKind:
        return JobKind(JOB, self._run)

    @property
    def recurring(self) -> list[Recurring]:
        return [
            Recurring("start vector builds", BUILD_EVERY_S, self._sweeps.start_builds),
            Recurring("remove expired vectors", REMOVE_EVERY_S, self._sweeps.remove_expired),
        ]

    @property
    def pending(self) -> int:
        return self._sweeps.pending

    @property
    def embedded(self) -> int:
        return self._builds.embedded

    @property
    def seconds(self) -> float:
        return self._builds.seconds

    async def _run(self, job: Job, progress: Progress) -> bytes:
        try:
            embedded = await self._builds.build(job.account_id, self._in_turns(progress))
        except Refusal as refused:
            if refused.code is Code.NOT_FOUND:
                raise Failed(refused.sentence) from refused
            raise
        return msgspec.json.encode({_EMBEDDED: embedded})

    def _in_turns(self, progress: Progress) -> Progress:
        """Pauses a build between two batches when its turn is over."""
        end = time.monotonic() + self._turn_s

        async def report(done: int, total: int) -> None:
            await progress(done, total)
            if done < total and time.monotonic() >= end:
                raise Paused

        return report
