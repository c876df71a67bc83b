"""Jobs that read connected sources: one per account, in turns, in lanes of their own."""

from typing import Final

from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.jobs.leases import Progress
from bowerbird.jobs.turns import in_turns
from bowerbird.jobs.worker import JobKind, Recurring
from bowerbird.library.connections.syncing import Sync
from bowerbird.model.connections import KIND
from bowerbird.model.jobs import SOURCES, Job
from bowerbird.settings import Settings
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.jobs import JobStore

EVERY_S: Final = 60.0
# A first run takes long, and a slow server longer; other accounts get turns in between.
_TURN_S: Final = 30.0


def source_jobs(database: Database, clock: Clock, settings: Settings) -> "SourceJobs":
    return SourceJobs(database, Sync(database, clock, settings), clock)


class SourceJobs:
    def __init__(
        self, database: Database, sync: Sync, clock: Clock, turn_s: float = _TURN_S
    ) -> None:
        self._database = database
        self._sync = sync
        self._clock = clock
        self._turn_s = turn_s
        self._jobs = JobStore(database)

    @property
    def kind(self) -> JobKind:
        return JobKind(KIND, self._run, is_waiting=True)

    @property
    def recurring(self) -> list[Recurring]:
        return [Recurring("read sources", EVERY_S, self.sweep)]

    async def sweep(self) -> None:
        """Adds a job for each account with a source that is due."""
        after = 0
        while page := await self._sync.due_accounts(after):
            for account_id in page:
                await self._start(account_id)
            after = page[-1]

    async def _start(self, account_id: int) -> None:
        async def work(transaction: Transaction) -> None:
            await self._jobs.add(
                transaction,
                account_id,
                KIND,
                b"{}",
                priority=SOURCES,
                now=self._clock(),
                unique=KIND,
            )

        try:
            await self._database.write(work)
        except Refusal as refused:
            # The account was deleted since it was found.
            if refused.code is not Code.NOT_FOUND:
                raise

    async def _run(self, job: Job, progress: Progress) -> None:
        turn_s = self._turn_s
        await self._sync.run(job.account_id, in_turns(progress, turn_s), turn_s)
