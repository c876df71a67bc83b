"""Jobs that are not finished or have failed, for the operator."""

from collections.abc import Sequence
from typing import Final

from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.model.jobs import OpenJob
from bowerbird.storage.database import Database
from bowerbird.storage.jobs import JobStore

PER_PAGE: Final = 10
_FIRST: Final = (-1, 0, "")


class OpenJobs:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._store = JobStore(database)
        self._clock = clock

    async def page(self, after: tuple[int, int, str] = _FIRST) -> Sequence[OpenJob]:
        """By account, the oldest first, and one more than a page if there are more."""
        return await self._store.open_page(after, PER_PAGE + 1)

    async def retry(self, account_id: int, job_id: str) -> None:
        if not await self._store.retry(account_id, job_id):
            raise Refusal(
                Code.NOT_FOUND, "The job has not failed, or the same work is queued or running."
            )

    async def cancel(self, account_id: int, job_id: str) -> None:
        """Ends a waiting job; the worker of a running one notices within a second or two."""
        if not await self._store.cancel(account_id, job_id, now=self._clock()):
            raise Refusal(Code.NOT_FOUND, "The job has already ended.")
