"""Digest jobs: a sweep finds the accounts that are due, a job creates and emails the digest.

Several nodes can sweep and find the same account. Its job is added once, and a digest is created
and sent once.
"""

from collections.abc import Sequence
from typing import Final

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Code, Refusal
from bowerbird.introductions import Introductions
from bowerbird.jobs.worker import JobKind, Progress, Recurring
from bowerbird.library.digests.contents import Topics
from bowerbird.library.digests.creation import DigestCreation
from bowerbird.library.digests.emails import DigestEmails
from bowerbird.mail import Mailer
from bowerbird.model.jobs import DIGESTS, Job
from bowerbird.settings import Settings
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.upkeep.digests import DigestStore
from bowerbird.storage.upkeep.jobs import JobStore

NAME: Final = "digest"
EVERY_S: Final = 60.0
# Keeps a transaction below 20 ms, so that other writers do not wait.
_JOBS_PER_TRANSACTION: Final = 50
# Keeps the queue short. A later sweep finds the accounts that are left out.
MAX_UNFINISHED: Final = 500
# A permanent error is not repeated every minute.
_RETRY_AFTER_ERROR: Final = 3_600 * MICROSECONDS


class DigestJobs:
    def __init__(
        self,
        database: Database,
        settings: Settings,
        clock: Clock,
        topics: Topics | None = None,
    ) -> None:
        mailer = Mailer(settings)
        self._creation = DigestCreation(
            database,
            clock,
            can_mail=mailer.is_ready,
            introductions=Introductions(settings),
            topics=topics,
        )
        self._emails = DigestEmails(database, clock, mailer.send, settings.site_origin)
        self._database = database
        self._store = DigestStore(database)
        self._jobs = JobStore(database)
        self._clock = clock

    @property
    def kind(self) -> JobKind:
        return JobKind(NAME, self._run)

    @property
    def recurring(self) -> list[Recurring]:
        return [Recurring("digests", EVERY_S, self.sweep)]

    async def sweep(self) -> None:
        """Adds a job for each account that is due, until the queue is full."""
        now, after = self._clock(), 0
        while await self._has_capacity() and (
            found := await self._store.due_accounts(
                after, now, _JOBS_PER_TRANSACTION, job_kind=NAME
            )
        ):
            await self._add(found, now)
            after = found[-1]

    async def _has_capacity(self) -> bool:
        unfinished = await self._jobs.unfinished_of_kind(NAME, DIGESTS, MAX_UNFINISHED)
        return unfinished < MAX_UNFINISHED

    async def _run(self, job: Job, _: Progress) -> None:
        try:
            await self._creation.create_due(job.account_id)
            await self._emails.send_due(job.account_id)
        except Refusal:
            raise
        except Exception:
            await self._store.postpone(job.account_id, self._clock() + _RETRY_AFTER_ERROR)
            raise

    async def _add(self, account_ids: Sequence[int], now: int) -> None:
        async def work(transaction: Transaction) -> None:
            for account_id in account_ids:
                await self._add_one(transaction, account_id, now)

        await self._database.write(work)

    async def _add_one(self, transaction: Transaction, account_id: int, now: int) -> None:
        try:
            async with transaction.savepoint():
                await self._jobs.add(
                    transaction, account_id, NAME, b"{}", priority=DIGESTS, now=now, unique=NAME
                )
        except Refusal as refused:
            # The account was deleted after the sweep found it.
            if refused.code is not Code.NOT_FOUND:
                raise
