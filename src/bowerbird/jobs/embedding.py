"""Embedding jobs: compute vectors for the posts of paid accounts, at the lowest priority."""

from typing import Final

import msgspec

from bowerbird.clock import Clock
from bowerbird.jobs.account_jobs import TURN_S, in_turns
from bowerbird.jobs.worker import JobKind, Progress, Recurring
from bowerbird.library.vectors.builds import VectorBuilds
from bowerbird.library.vectors.sweeps import BUILD_EVERY_S, JOB, REMOVE_EVERY_S, VectorSweeps
from bowerbird.model.jobs import Job
from bowerbird.search.meaning.models import Models
from bowerbird.storage.database import Database

_EMBEDDED: Final = "embedded"


class EmbeddingJobs:
    def __init__(
        self, database: Database, models: Models, clock: Clock, turn_s: float = TURN_S
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
        progress = in_turns(progress, self._turn_s)
        return msgspec.json.encode({_EMBEDDED: await self._builds.build(job.account_id, progress)})
