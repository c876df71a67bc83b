"""Jobs that keep the images of posts, in turns, at the priority of embedding."""

from typing import Final

from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.jobs.account_jobs import AccountJobs, in_turns
from bowerbird.jobs.worker import Failed, JobKind, Progress, Recurring
from bowerbird.library.media.keeping import Keeping
from bowerbird.model.jobs import MEDIA, Job
from bowerbird.model.media import KIND
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from bowerbird.storage.files.files import Files

# People watch their library fill after an import.
EVERY_S: Final = 10.0
_LEFTOVERS_EVERY_S: Final = 86_400.0
# A library of thousands of images takes long; other accounts get turns in between.
_TURN_S: Final = 30.0
# A permanent error is not repeated with every look.
_RETRY_AFTER_ERROR_S: Final = 600


def media_jobs(database: Database, files: Files, clock: Clock, settings: Settings) -> "MediaJobs":
    return MediaJobs(database, Keeping(database, files, clock, settings), clock)


class MediaJobs:
    def __init__(
        self, database: Database, keeping: Keeping, clock: Clock, turn_s: float = _TURN_S
    ) -> None:
        self._keeping = keeping
        self._turn_s = turn_s
        self._jobs = AccountJobs(database, clock, KIND, MEDIA)

    @property
    def kind(self) -> JobKind:
        return JobKind(KIND, self._run)

    @property
    def recurring(self) -> list[Recurring]:
        return [
            Recurring("keep images", EVERY_S, self.sweep),
            Recurring("delete leftover images", _LEFTOVERS_EVERY_S, self._keeping.delete_leftovers),
        ]

    async def sweep(self) -> None:
        """Adds a job for each account with something to do."""
        await self._jobs.add_all(self._keeping.due_accounts)

    async def _run(self, job: Job, progress: Progress) -> None:
        try:
            await self._keeping.run(job.account_id, in_turns(progress, self._turn_s))
        except Refusal as refused:
            if refused.code is Code.NOT_FOUND:
                raise Failed(refused.sentence) from refused
            await self._keeping.postpone(job.account_id, _RETRY_AFTER_ERROR_S)
            raise
