"""A worker's lease on a job: renewed while the job runs, lost when another worker claims it."""

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
"""Reports (done, total). Raises LeaseLost if the worker no longer holds the job."""

# Progress is written at most once per second.
_WRITE_INTERVAL_S: Final = 1.0


class LeaseLost(Exception):  # noqa: N818 - named for what it is
    """The job was cancelled, or another worker claimed it."""


class Lease:
    def __init__(self, store: JobStore, job: Job, *, lease_s: float, heartbeat_s: float) -> None:
        self._store = store
        self._job = job
        self._lease_s = lease_s
        self._heartbeat_s = heartbeat_s
        self._done = 0
        self.total = 0
        self._is_lost = False
        self._written_at = -_WRITE_INTERVAL_S
        self._expires_at = time.monotonic() + lease_s

    async def progress(self, done: int, total: int) -> None:
        self._done, self.total = done, total
        if self._is_lost:
            raise LeaseLost
        if time.monotonic() - self._written_at >= _WRITE_INTERVAL_S:
            await self._renew()

    async def run(self, work: Awaitable[T]) -> T:
        """Runs the work and renews the lease. Cancels it and raises LeaseLost on a lost lease."""
        working = asyncio.ensure_future(work)
        heartbeat = asyncio.create_task(self._heartbeat(working))
        try:
            return await working
        except asyncio.CancelledError:
            if self._is_lost:
                raise LeaseLost from None
            raise
        finally:
            heartbeat.cancel()
            working.cancel()
            await asyncio.gather(heartbeat, working, return_exceptions=True)

    async def _heartbeat(self, working: "asyncio.Future[T]") -> None:
        while not self._is_lost:
            await asyncio.sleep(self._heartbeat_s)
            with suppress(LeaseLost):
                await self._renew()
        working.cancel()

    async def _renew(self) -> None:
        started = time.monotonic()
        try:
            is_held = await self._store.renew_lease(
                self._job, self._done, self.total, lease_s=self._lease_s
            )
        except Exception as error:  # noqa: BLE001 - retried until the lease expires
            # The database is unavailable. Once the lease has expired, another worker may start.
            is_held = started < self._expires_at
            if not isinstance(error, Refusal):
                structlog.get_logger().exception("lease not renewed", job=self._job.job_id)
        else:
            self._written_at = started
            self._expires_at = started + self._lease_s
        if not is_held:
            self._is_lost = True
            raise LeaseLost
