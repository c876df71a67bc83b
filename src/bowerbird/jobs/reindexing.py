"""Jobs that write what earlier releases stored again, and complete counts, at the lowest priority.

They write the words of posts in the current form, and the time and the language of posts that have
none.
"""

from functools import partial
from typing import Final

from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.jobs.account_jobs import AccountJobs, in_turns
from bowerbird.jobs.worker import Failed, JobKind, Progress, Recurring
from bowerbird.library.bookmarks.writing.reindexing import Reindexing
from bowerbird.library.upkeep.corrections import Dating, PostLanguages
from bowerbird.model.jobs import REINDEXING, Job
from bowerbird.storage.database import Database

KIND: Final = "reindex"
# Imports of files leave changes of counts, which ranking does not know until they are added.
EVERY_S: Final = 5.0
# A library of 100,000 posts takes minutes; other accounts get turns in between.
_TURN_S: Final = 30.0


class ReindexJobs:
    def __init__(self, database: Database, clock: Clock, turn_s: float = _TURN_S) -> None:
        self._reindexing = Reindexing(database, clock)
        self._dating = Dating(database, clock)
        self._languages = PostLanguages(database)
        # No release of today stores a post without a time.
        self._has_dated = False
        self._turn_s = turn_s
        self._jobs = AccountJobs(database, clock, KIND, REINDEXING)

    @property
    def kind(self) -> JobKind:
        return JobKind(KIND, self._run)

    @property
    def recurring(self) -> Recurring:
        return Recurring("index old posts", EVERY_S, self.sweep)

    async def sweep(self) -> None:
        """Adds a job for each account with something to do that has none."""
        if not self._has_dated:
            await self._jobs.add_all(self._dating.due_accounts)
            self._has_dated = True
        # A node of an earlier release may still be running.
        await self._jobs.add_all(self._languages.due_accounts)
        await self._jobs.add_all(partial(self._reindexing.due_accounts, job_kind=KIND))

    async def _run(self, job: Job, progress: Progress) -> None:
        try:
            await self._dating.run(job.account_id)
            await self._languages.run(job.account_id)
            await self._reindexing.run(job.account_id, in_turns(progress, self._turn_s))
        except Refusal as refused:
            if refused.code is Code.NOT_FOUND:
                raise Failed(refused.sentence) from refused
            raise
