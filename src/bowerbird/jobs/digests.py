"""Digests as work: a sweep finds the accounts whose time has come, a job makes and mails.

The sweep may run on any number of nodes and find an account twice; its job is added once, and
what the job does is done once.
"""

from collections.abc import Sequence
from typing import Final

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Code, Refusal
from bowerbird.introductions import Introductions
from bowerbird.jobs.leases import Progress
from bowerbird.jobs.worker import JobKind, Recurring
from bowerbird.library.digests.contents import Topics
from bowerbird.library.digests.creation import DigestCreation
from bowerbird.library.digests.emails import DigestEmails
from bowerbird.mail import Mailer
from bowerbird.model.jobs import DIGESTS, Job
from bowerbird.settings import Settings
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.digests.digests import DigestStore
from bowerbird.storage.jobs import JobStore

NAME: Final = "digest"
EVERY_S: Final = 60.0
# Keeps a transaction below 20 ms, so that other writers do not wait for it.
_AT_ONCE: Final = 50
# The queue stays short: whom this leaves out, a later sweep finds.
MOST_UNFINISHED: Final = 500
# A fault that stays does not come round every minute.
_AFTER_A_FAULT: Final = 3_600 * MICROSECONDS


class DigestJobs:
    def __init__(
        self,
        database: Database,
        settings: Settings,
        clock: Clock,
        topics: Topics | None = None,
    ) -> None:
        mailer = Mailer(settings)
        self._making = DigestCreation(
            database,
            clock,
            can_mail=mailer.is_ready,
            introductions=Introductions(settings),
            topics=topics,
        )
        self._mail = DigestEmails(database, clock, mailer.send, settings.site_origin)
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
        """Adds a job for each account whose time has come, as far as there is room."""
        now, after = self._clock(), 0
        while await self._is_room() and (
            found := await self._store.due_accounts(after, now, _AT_ONCE, job_kind=NAME)
        ):
            await self._add(found, now)
            after = found[-1]

    async def _is_room(self) -> bool:
        unfinished = await self._jobs.unfinished_of_kind(NAME, DIGESTS, MOST_UNFINISHED)
        return unfinished < MOST_UNFINISHED

    async def _run(self, job: Job, _: Progress) -> None:
        try:
            await self._making.create_due(job.account_id)
            await self._mail.send_due(job.account_id)
        except Refusal:
            raise
        except Exception:
            await self._store.put_off(job.account_id, self._clock() + _AFTER_A_FAULT)
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
            # Deleted since it was found.
            if refused.code is not Code.NOT_FOUND:
                raise
