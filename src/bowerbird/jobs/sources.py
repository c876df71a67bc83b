"""Jobs that read connected sources: one per account, in turns, in lanes of their own."""

from typing import Final

from bowerbird.clock import Clock
from bowerbird.jobs.account_jobs import AccountJobs, in_turns
from bowerbird.jobs.worker import JobKind, Progress, Recurring
from bowerbird.library.connections.syncing import Sync
from bowerbird.model.connections import KIND
from bowerbird.model.jobs import SOURCES, Job
from bowerbird.settings import Settings
from bowerbird.storage.database import Database

EVERY_S: Final = 60.0
# A first run takes long, and a slow server longer; other accounts get turns in between.
_TURN_S: Final = 30.0


def source_jobs(database: Database, clock: Clock, settings: Settings) -> "SourceJobs":
    return SourceJobs(database, Sync(database, clock, settings), clock)


class SourceJobs:
    def __init__(
        self, database: Database, sync: Sync, clock: Clock, turn_s: float = _TURN_S
    ) -> None:
        self._sync = sync
        self._turn_s = turn_s
        self._jobs = AccountJobs(database, clock, KIND, SOURCES)

    @property
    def kind(self) -> JobKind:
        return JobKind(KIND, self._run, is_waiting=True)

    @property
    def recurring(self) -> list[Recurring]:
        return [Recurring("read sources", EVERY_S, self.sweep)]

    async def sweep(self) -> None:
        """Adds a job for each account with a source that is due."""
        await self._jobs.add_all(self._sync.due_accounts)

    async def _run(self, job: Job, progress: Progress) -> None:
        turn_s = self._turn_s
        await self._sync.run(job.account_id, in_turns(progress, turn_s), turn_s)
