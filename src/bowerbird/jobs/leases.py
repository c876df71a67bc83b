"""A worker's hold on a job: prolonged while it works, given up when somebody else has it."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, TypeVar

import structlog

from bowerbird.errors import Refusal
from bowerbird.model.jobs import Job
from bowerbird.storage.jobs import JobStore

T = TypeVar("T")
Progress = Callable[[int, int], Awaitable[None]]
"""Told what is done and how much it is in all. Raises when the job is the worker's no more."""

_WRITE_S: Final = 1.0


class Lost(Exception):  # noqa: N818 - named for what it is
    """The job was cancelled, or another worker has it."""


class Lease:
    def __init__(self, store: JobStore, job: Job, *, lease_s: float, heartbeat_s: float) -> None:
        self._store = store
        self._job = job
        self._lease_s = lease_s
        self._heartbeat_s = heartbeat_s
        self._done = 0
        self.total = 0
        self._is_lost = False
        self._written = -_WRITE_S
        self._ends = time.monotonic() + lease_s

    async def progress(self, done: int, total: int) -> None:
        self._done, self.total = done, total
        if self._is_lost:
            raise Lost
        if time.monotonic() - self._written >= _WRITE_S:
            await self._try_to_hold()

    async def kept_while(self, work: Awaitable[T]) -> T:
        """The outcome of the work. Ends it, by Lost, when the lease cannot be kept."""
        working = asyncio.ensure_future(work)
        beating = asyncio.create_task(self._beat(working))
        try:
            return await working
        except asyncio.CancelledError:
            if self._is_lost:
                raise Lost from None
            raise
        finally:
            beating.cancel()
            working.cancel()
            await asyncio.gather(beating, working, return_exceptions=True)

    async def _beat(self, working: "asyncio.Future[T]") -> None:
        while not self._is_lost:
            await asyncio.sleep(self._heartbeat_s)
            with suppress(Lost):
                await self._try_to_hold()
        working.cancel()

    async def _try_to_hold(self) -> None:
        began = time.monotonic()
        try:
            is_held = await self._store.hold(
                self._job, self._done, self.total, lease_s=self._lease_s
            )
        except Exception as error:  # noqa: BLE001 - whatever it was, the lease tells how long
            # The database is away. Past the lease, another worker may have begun.
            is_held = began < self._ends
            if not isinstance(error, Refusal):
                structlog.get_logger().exception("lease not prolonged", job=self._job.job_id)
        else:
            self._written = began
            self._ends = began + self._lease_s
        if not is_held:
            self._is_lost = True
            raise Lost
