"""Jobs that read the text of posts that are only links, in turns, in lanes for the network."""

from typing import Final

import msgspec

from bowerbird.clock import Clock
from bowerbird.jobs.account_jobs import AccountJobs, in_turns
from bowerbird.jobs.worker import JobKind, Progress, Recurring
from bowerbird.library.links.reading import LinkReading
from bowerbird.model.jobs import LINKS, Job
from bowerbird.model.links import KIND, LinkJob
from bowerbird.settings import Settings
from bowerbird.storage.database import Database

# A person who has saved a link looks at it.
EVERY_S: Final = 2.0
_FORGET_EVERY_S: Final = 86_400.0
# Thousands of links take hours; other accounts and sources get turns in between.
_TURN_S: Final = 10.0


def link_jobs(database: Database, clock: Clock, settings: Settings) -> "LinkJobs":
    return LinkJobs(database, LinkReading(database, clock, settings), clock)


class LinkJobs:
    def __init__(
        self, database: Database, reading: LinkReading, clock: Clock, turn_s: float = _TURN_S
    ) -> None:
        self._reading = reading
        self._turn_s = turn_s
        self._jobs = AccountJobs(database, clock, KIND, LINKS)

    @property
    def kind(self) -> JobKind:
        return JobKind(KIND, self._run, is_waiting=True)

    @property
    def recurring(self) -> list[Recurring]:
        if not self._reading.is_on:
            return []
        return [
            Recurring("read links", EVERY_S, self.sweep),
            Recurring("forget hosts of posts", _FORGET_EVERY_S, self._reading.turns.forget),
        ]

    async def sweep(self) -> None:
        """Adds a job for each account with links that are due."""
        await self._jobs.add_all(self._reading.due_accounts)

    async def _run(self, job: Job, progress: Progress) -> None:
        after = msgspec.json.decode(job.parameters, type=LinkJob).after
        await self._reading.run(job.account_id, in_turns(progress, self._turn_s), after)
