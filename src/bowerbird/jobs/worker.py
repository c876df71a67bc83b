"""Runs jobs: claims them one by one, renews their leases, and stores their outcomes.

Counts them for the metrics.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final, TypeVar

import structlog
from msgspec import Struct

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Code, Refusal
from bowerbird.model.jobs import EXPORTS, MAX_TRIES, UNFINISHED, Job, JobCount
from bowerbird.storage.database import Database
from bowerbird.storage.fair_queue import IN_BACKGROUND
from bowerbird.storage.stores import TimedService
from bowerbird.storage.upkeep.jobs import JobStore
from bowerbird.wire.metrics import LEASE_LOST, NOT_STORED, JobMetrics, RequestMetrics

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


LEASE_S: Final = 15.0
# Also writes the progress, so that clients see progress that is at most a second old.
HEARTBEAT_S: Final = 1.0
POLL_S: Final = 1.0
# An idle worker spends at most a hundredth of its time looking for jobs, unless the pause would be
# longer than five polls. On Citus each look asks every shard; elsewhere it takes a millisecond.
_REST: Final = 99
_LONGEST_PAUSE: Final = 5
LANES: Final = 3
# In addition: their jobs mostly wait for servers of others.
NETWORK_LANES: Final = 4
# Between the first and second attempt, and between the second and third.
PAUSES_S: Final = (5.0, 30.0)
_ANY_PRIORITY: Final = 1_000_000
# Random, so that workers that start together do not run recurring tasks together.
_MAX_FIRST_DELAY_S: Final = 5.0
# Tasks that run this rarely wait until the start is over.
_RARE_S: Final = 300.0
_RARE_DELAY_S: Final = 30.0
_RELEASED: Final = "job released"


class Failed(Exception):  # noqa: N818 - named for what it is
    """The job failed permanently, so it is not retried. The message is the job's error."""


class Paused(Exception):  # noqa: N818 - named for what it is
    """The turn of the job is over. It goes back to the queue and continues later."""


class JobKind(Struct, frozen=True):
    """A kind of job. `run` returns the result as JSON, or None."""

    name: str
    run: Callable[[Job, Progress], Awaitable[bytes | None]]
    # How long the file of a result is kept; None for kinds without a file.
    retention_s: int | None = None
    # Deletes the file of a result that no client can download.
    discard: Callable[[bytes], Awaitable[None]] | None = None
    # Whether its jobs mostly wait for the network. They have lanes of their own.
    is_waiting: bool = False
    # How many of its jobs run concurrently, in lanes that no other kind has; 0 for the lanes above.
    own_lanes: int = 0


class _RunningJob(Struct, eq=False):
    """A job of this worker, and its result as soon as there is one."""

    job: Job
    result: bytes | None = None


class Recurring(Struct, frozen=True):
    """A task that runs at regular intervals."""

    name: str
    every_s: float
    run: Callable[[], Awaitable[object]]


class Worker(TimedService):
    def __init__(
        self,
        database: Database,
        kinds: Sequence[JobKind],
        recurring: Sequence[Recurring],
        clock: Clock,
        *,
        lanes: int = LANES,
        network_lanes: int = NETWORK_LANES,
        lease_s: float = LEASE_S,
        heartbeat_s: float = HEARTBEAT_S,
        poll_s: float = POLL_S,
        pauses_s: Sequence[float] = PAUSES_S,
    ) -> None:
        """`lanes`: how many jobs run concurrently. The last lane is reserved for exports.

        `network_lanes`: how many jobs of kinds that wait for the network run besides them.
        """
        super().__init__(database, clock)
        self._kinds = {kind.name: kind for kind in kinds}
        self.recurring = recurring
        self._lanes = lanes
        self._network_lanes = network_lanes
        shared = [kind for kind in kinds if not kind.own_lanes]
        self._common = [kind.name for kind in shared if not kind.is_waiting]
        self._waiting = [kind.name for kind in shared if kind.is_waiting]
        self._separate = [kind for kind in kinds if kind.own_lanes]
        self._lease_s = lease_s
        self._heartbeat_s = heartbeat_s
        self._poll_s = self._pause_s = poll_s
        self._pauses_s = pauses_s
        self._running: dict[asyncio.Task[None], _RunningJob] = {}
        self._wake = asyncio.Event()
        self._is_failing = False
        self._log = structlog.get_logger()
        self.metrics = JobMetrics()

    def wake(self) -> None:
        """Looks for a job that this process has added. Other processes find it by polling."""
        self._wake.set()

    async def run(self, stopping: asyncio.Event) -> None:
        """Runs jobs until `stopping` is set; then puts unfinished jobs back into the queue."""
        recurring = [asyncio.create_task(keep_running(each)) for each in self.recurring]
        stop = asyncio.create_task(stopping.wait())
        try:
            while not stopping.is_set():
                if not await self._start_next():
                    await self._pause(stop)
        finally:
            stop.cancel()
            unfinished = list(self._running.values())
            tasks = [*recurring, *self._running]
            for task in tasks:
                task.cancel()
            await asyncio.gather(stop, *tasks, return_exceptions=True)
            # Done here because a task that is cancelled before its first step runs no code.
            for work in unfinished:
                await self._release(work)

    async def _pause(self, stop: asyncio.Task[bool]) -> None:
        """Waits for a wake-up, the end of a job, or the next poll."""
        waking = asyncio.create_task(self._wake.wait())
        await asyncio.wait(
            (stop, waking, *self._running),
            timeout=self._pause_s,
            return_when=asyncio.FIRST_COMPLETED,
        )
        waking.cancel()
        self._wake.clear()

    async def _start_next(self) -> bool:
        """False if there is no job, or no free lane for it."""
        job = await self._next()
        if job is None:
            return False
        work = _RunningJob(job)
        task = asyncio.create_task(self._process(work))
        self._running[task] = work
        task.add_done_callback(self._running.pop)
        return True

    async def _next(self) -> Job | None:
        common, waiting = self._count(self._common), self._count(self._waiting)
        is_last = 0 < common == self._lanes - 1
        kinds = [
            *(self._common if common < self._lanes and not is_last else ()),
            *(self._waiting if waiting < self._network_lanes else ()),
            *(kind.name for kind in self._separate if self._count([kind.name]) < kind.own_lanes),
        ]
        job, started, self._pause_s = None, time.monotonic(), self._poll_s
        try:
            if is_last and self._common:
                job = await self._claimed(self._common, is_last=True)
            if job is None and kinds:
                job = await self._claimed(kinds)
        except Refusal as refused:
            # One line when it begins: the worker polls every second.
            if not self._is_failing:
                self._log.warning("cannot claim jobs", reason=refused.sentence)
            self._is_failing = True
        except Exception:  # noqa: BLE001 - the next poll tries again
            self._log.exception("cannot claim jobs")
        else:
            self._is_failing = False
            rest_s = (time.monotonic() - started) * _REST
            self._pause_s = min(max(rest_s, self._poll_s), self._poll_s * _LONGEST_PAUSE)
            return job
        return None

    async def _claimed(self, kinds: Sequence[str], *, is_last: bool = False) -> Job | None:
        return await self._stores.jobs.claim(
            kinds,
            EXPORTS if is_last else _ANY_PRIORITY,
            lease_s=self._lease_s,
            now=self._clock(),
            # An account with a running export leaves the last lane to others.
            excluded_accounts=self._exporting() if is_last else (),
        )

    def _count(self, kinds: Sequence[str]) -> int:
        return sum(work.job.kind in kinds for work in self._running.values())

    def _exporting(self) -> set[int]:
        jobs = [work.job for work in self._running.values()]
        return {job.account_id for job in jobs if job.priority <= EXPORTS}

    async def _process(self, work: _RunningJob) -> None:
        job = work.job
        # Applies to this task only: each job runs in its own.
        IN_BACKGROUND.set(True)
        self._log.info("job started", job=job.job_id, kind=job.kind, tries=job.tries)
        lease = Lease(self._stores.jobs, job, lease_s=self._lease_s, heartbeat_s=self._heartbeat_s)
        started = time.monotonic()
        try:
            await lease.run(self._run(work, lease))
            await self._complete(work, lease)
        except LeaseLost:
            self._log.warning("job lease lost", job=job.job_id, kind=job.kind)
            self.metrics.ended(job.kind, LEASE_LOST)
            await self._discard(work)
        except Paused:
            await self._end(job, "job paused", self._stores.jobs.release(job))
        except Failed as failed:
            await self._fail(job, str(failed))
        except Refusal as refused:
            self._log.warning("job attempt failed", job=job.job_id, cause=repr(refused.__cause__))
            # What is gone, such as the account, does not come back.
            is_final = refused.code is Code.NOT_FOUND
            await (self._fail if is_final else self._retry_later)(job, refused.sentence)
        except Exception:  # noqa: BLE001 - an error in the job's own code
            self._log.exception("job attempt failed", job=job.job_id, kind=job.kind)
            sentence = f"Internal error. The server log has the details ({job.job_id})."
            await self._retry_later(job, sentence)
        finally:
            self.metrics.took(job.kind, time.monotonic() - started)

    async def _run(self, work: _RunningJob, lease: Lease) -> None:
        work.result = await self._kinds[work.job.kind].run(work.job, lease.progress)

    async def _complete(self, work: _RunningJob, lease: Lease) -> None:
        job, now = work.job, self._clock()
        retention_s = self._kinds[job.kind].retention_s
        ended = self._stores.jobs.complete(
            job,
            work.result,
            total=lease.total,
            now=now,
            expires_at=None if retention_s is None else now + retention_s * MICROSECONDS,
        )
        if await self._end(job, "job completed", ended) is False:
            await self._discard(work)

    async def _release(self, work: _RunningJob) -> None:
        """Puts the job back into the queue, unless it has ended."""
        if await self._end(work.job, _RELEASED, self._stores.jobs.release(work.job)) is not None:
            await self._discard(work)

    async def _discard(self, work: _RunningJob) -> None:
        """Deletes the file of a result, unless the result was stored in the job."""
        job, discard = work.job, self._kinds[work.job.kind].discard
        if work.result is None or discard is None:
            return
        try:
            stored = await self._stores.jobs.one(job.account_id, job.job_id)
            if stored is None or stored.result != work.result:
                await discard(work.result)
        except Exception:  # noqa: BLE001 - a recurring task deletes the file later
            self._log.exception("job result not discarded", job=job.job_id, kind=job.kind)

    async def _retry_later(self, job: Job, sentence: str) -> None:
        if job.tries >= MAX_TRIES:
            await self._fail(job, sentence)
            return
        pause_s = self._pauses_s[min(job.tries, len(self._pauses_s)) - 1]
        await self._end(
            job,
            "job postponed",
            self._stores.jobs.postpone(job, sentence, pause_s=pause_s),
            sentence,
        )

    async def _fail(self, job: Job, sentence: str) -> None:
        ended = self._stores.jobs.fail(job, sentence, now=self._clock())
        await self._end(job, "job failed", ended, sentence)

    async def _end(
        self, job: Job, event: str, ended: Awaitable[bool], reason: str | None = None
    ) -> bool | None:
        """Whether this worker still held the job; None if the database is unavailable.

        In that case the lease expires and the job runs again.
        """
        try:
            is_ours = await ended
        except Exception:  # noqa: BLE001 - the lease expires and another worker runs the job
            self._log.exception("job outcome not stored", job=job.job_id, kind=job.kind)
            self.metrics.ended(job.kind, NOT_STORED)
            return None
        fields = {"job": job.job_id, "kind": job.kind, "reason": reason}
        self._log.info(event if is_ours else "job lease lost", **fields)
        # A job that cannot be released has ended, and was counted.
        if is_ours or event != _RELEASED:
            self.metrics.ended(job.kind, event.removeprefix("job ") if is_ours else LEASE_LOST)
        return is_ours


async def keep_running(recurring: Recurring, first_s: float | None = None) -> None:
    """Runs a task again and again until it is cancelled. `first_s`: when the first time."""
    log = structlog.get_logger()
    pause_s = first_s
    if pause_s is None:
        pause_s = random.uniform(0, min(recurring.every_s, _MAX_FIRST_DELAY_S))  # noqa: S311 - no secret
        if recurring.every_s >= _RARE_S:
            pause_s += _RARE_DELAY_S
    while True:
        await asyncio.sleep(pause_s)
        pause_s = recurring.every_s
        try:
            await recurring.run()
        except Refusal as refused:
            fields = {"reason": refused.sentence, "cause": repr(refused.__cause__)}
            log.warning("recurring task postponed", task=recurring.name, **fields)
        except Exception:
            log.exception("recurring task failed", task=recurring.name)


_EVERY_S: Final = 15.0
# Counting all jobs of a month is slow, so that only happens every twentieth time.
_FULL_COUNT_EVERY: Final = 20


class JobWatch(TimedService):
    def __init__(self, database: Database, clock: Clock, metrics: RequestMetrics) -> None:
        super().__init__(database, clock)
        self._metrics = metrics
        self._rounds = 0
        self._finished: list[JobCount] = []

    async def refresh(self) -> None:
        counts = await self._counts()
        now = self._clock()
        self._metrics.jobs = [
            (each.kind, each.state, each.count, (now - each.oldest_at) / MICROSECONDS)
            for each in counts
        ]

    async def _counts(self) -> list[JobCount]:
        is_full = self._rounds % _FULL_COUNT_EVERY == 0
        counts = await self._stores.jobs.counts(only_unfinished=not is_full)
        self._rounds += 1
        if is_full:
            self._finished = [each for each in counts if each.state not in UNFINISHED]
            return counts
        return [*counts, *self._finished]

    async def keep_refreshing(self) -> None:
        """Counts regularly until it is cancelled."""
        await keep_running(Recurring("count jobs", _EVERY_S, self.refresh), first_s=0)
