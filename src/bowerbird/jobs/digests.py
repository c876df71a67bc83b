"""Digest jobs: a sweep finds the accounts that are due, a job creates and emails the digest.

Several nodes can sweep and find the same account. Its job is added once, and a digest is created
and sent once.
"""

from collections.abc import Sequence
from typing import Final

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Refusal
from bowerbird.introductions import Introductions
from bowerbird.jobs.account_jobs import AccountJobs
from bowerbird.jobs.worker import Progress, Recurring
from bowerbird.library.digests.contents import Topics
from bowerbird.library.digests.creation import DigestCreation
from bowerbird.library.digests.emails import DigestEmails
from bowerbird.mail import Mailer
from bowerbird.model.jobs import DIGESTS, Job
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from bowerbird.storage.upkeep.digests import DigestStore

NAME: Final = "digest"
EVERY_S: Final = 60.0
_ACCOUNTS: Final = 50
# Keeps the queue short. A later sweep finds the accounts that are left out.
MAX_UNFINISHED: Final = 500
# A permanent error is not repeated every minute.
_RETRY_AFTER_ERROR: Final = 3_600 * MICROSECONDS


class DigestJobs(AccountJobs):
    def __init__(
        self,
        database: Database,
        settings: Settings,
        clock: Clock,
        topics: Topics | None = None,
    ) -> None:
        super().__init__(database, clock, NAME, DIGESTS, turn_s=0, due_accounts=self._due)
        self.recurring = [Recurring("digests", EVERY_S, self.sweep)]
        mailer = Mailer(settings)
        self._creation = DigestCreation(
            database,
            clock,
            can_mail=mailer.is_ready,
            introductions=Introductions(settings),
            topics=topics,
        )
        self._emails = DigestEmails(database, clock, mailer.send, settings.site_origin)
        self._store = DigestStore(database)

    async def _due(self, after: int) -> Sequence[int]:
        """The next accounts that are due, until the queue is full."""
        unfinished = await self._jobs.unfinished_of_kind(NAME, DIGESTS, MAX_UNFINISHED)
        if unfinished >= MAX_UNFINISHED:
            return []
        return await self._store.due_accounts(after, self._clock(), _ACCOUNTS, job_kind=NAME)

    async def _run(self, job: Job, _: Progress) -> None:
        try:
            await self._creation.create_due(job.account_id)
            await self._emails.send_due(job.account_id)
        except Refusal:
            raise
        except Exception:
            await self._store.postpone(job.account_id, self._clock() + _RETRY_AFTER_ERROR)
            raise
