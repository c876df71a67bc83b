"""Adds a job for each account that has something to do. Long jobs end to let others take turns."""

import time
from collections.abc import Awaitable, Callable, Sequence

from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.jobs.worker import Paused, Progress
from bowerbird.storage.database import Database, Transaction
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
