"""Jobs for accounts: changes of many posts and deletions.

Long jobs end to let others take turns.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import msgspec

from bowerbird.clock import Clock, month_of
from bowerbird.errors import Code, Refusal
from bowerbird.jobs.worker import Failed, JobKind, Paused, Progress, Recurring
from bowerbird.library.access import plans
from bowerbird.library.accounts.deletion import AccountDeletion
from bowerbird.library.bulk.changes import BulkChanges
from bowerbird.model.bulk import KIND
from bowerbird.model.jobs import Job
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.files.files import Files
from bowerbird.storage.jobs import JobStore

# The next accounts after one, in order; none at the end.
DueAccounts = Callable[[int], Awaitable[Sequence[int]]]


class AccountJobs:
    def __init__(self, database: Database, clock: Clock, kind: str, priority: int) -> None:
        self._database = database
        self._clock = clock
        self._kind = kind
        self._priority = priority
        self._jobs = JobStore(database)

    async def add_all(self, due_accounts: DueAccounts) -> None:
        after = 0
        while page := await due_accounts(after):
            for account_id in page:
                await self._add(account_id)
            after = page[-1]

    async def _add(self, account_id: int) -> None:
        async def work(transaction: Transaction) -> None:
            await self._jobs.add(
                transaction,
                account_id,
                self._kind,
                b"{}",
                priority=self._priority,
                now=self._clock(),
                unique=self._kind,
            )

        try:
            await self._database.write(work)
        except Refusal as refused:
            # The account was deleted since it was found.
            if refused.code is not Code.NOT_FOUND:
                raise


def in_turns(progress: Progress, turn_s: float) -> Progress:
    """Reports as `progress` does, and raises Paused when the turn is over and work is left."""
    end = time.monotonic() + turn_s

    async def report(done: int, total: int) -> None:
        await progress(done, total)
        if done < total and time.monotonic() >= end:
            raise Paused

    return report


def kind(database: Database, clock: Clock) -> JobKind:
    """A change stores its own progress: each turn leaves the rest of it in the database."""
    accounts, changes = AccountStore(database), BulkChanges(database, clock)

    async def run(job: Job, _: Progress) -> None:
        account = await accounts.by_id(job.account_id, month_of(clock()))
        try:
            if account is None:
                raise plans.account_gone()
            await changes.finish(account, msgspec.json.decode(job.parameters, type=str))
        except Refusal as refused:
            if refused.code is Code.NOT_FOUND:
                raise Failed(refused.sentence) from refused
            raise

    return JobKind(KIND, run)


EVERY_S: Final = 60.0


def recurring(database: Database, files: Files) -> Recurring:
    """Several workers may do it at the same time: removing what is gone changes nothing."""
    deletion = AccountDeletion(database)
    return Recurring("account deletions", EVERY_S, lambda: deletion.complete_all(files))
