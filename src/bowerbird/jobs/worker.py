"""Does jobs: claims one after the other, keeps its lease alive, and says how it ended.

A worker that dies leaves nothing to tidy up: the lease runs out, and another takes the job.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import structlog
from msgspec import Struct

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Refusal
from bowerbird.jobs.leases import Lease, Lost, Progress
from bowerbird.model.jobs import EXPORTS, MAX_TRIES, Job
from bowerbird.storage.database import Database
from bowerbird.storage.jobs import JobStore

LEASE_S: Final = 15.0
# A second, so that whoever looks sees progress no older, also while a file is set in silence.
HEARTBEAT_S: Final = 1.0
POLL_S: Final = 1.0
LANES: Final = 3
# Between the first try and the second, and between the second and the third.
PAUSES_S: Final = (5.0, 30.0)
_LEAST_URGENT: Final = 1_000_000
# Workers that start together sweep apart, and what is seldom done waits until the start is over.
_SPREAD_S: Final = 5.0
_SELDOM_S: Final = 300.0
_AFTER_START_S: Final = 30.0


class Failed(Exception):  # noqa: N818 - named for what it is
    """The job cannot be done, however often it is tried. Says why in a sentence."""


class Paused(Exception):  # noqa: N818 - named for what it is
    """The job has had its turn. It goes on later, where it was, behind those of others."""


class JobKind(Struct, frozen=True):
    """A kind of job. `run` returns the result as JSON, or None."""

    name: str
    run: Callable[[Job, Progress], Awaitable[bytes | None]]
    # How long the file of its result is kept; None for kinds that leave none.
    kept_s: int | None = None
    # Removes what a result names; called for results that nobody is ever offered.
    discard: Callable[[bytes], Awaitable[None]] | None = None


class _AtWork(Struct, eq=False):
    """A job of this worker, and its result from the moment on that there is one."""

    job: Job
    result: bytes | None = None


class Recurring(Struct, frozen=True):
    """What is looked after again and again; a wake-up may be lost, a sweep never is."""

    name: str
    every_s: float
    run: Callable[[], Awaitable[None]]


class Worker:
    def __init__(
        self,
        database: Database,
        kinds: Sequence[JobKind],
        recurring: Sequence[Recurring],
        clock: Clock,
        *,
        lanes: int = LANES,
        lease_s: float = LEASE_S,
        heartbeat_s: float = HEARTBEAT_S,
        poll_s: float = POLL_S,
        pauses_s: Sequence[float] = PAUSES_S,
    ) -> None:
        """`lanes` is how many jobs are done at once; the last is for an export."""
        self._store = JobStore(database)
        self._kinds = {kind.name: kind for kind in kinds}
        self._recurring = recurring
        self._clock = clock
        self._lanes = lanes
        self._lease_s = lease_s
        self._heartbeat_s = heartbeat_s
        self._poll_s = poll_s
        self._pauses_s = pauses_s
        self._running: dict[asyncio.Task[None], _AtWork] = {}
        self._wake = asyncio.Event()
        self._log = structlog.get_logger()

    def wake(self) -> None:
        """Says that a job was added in this process; others find it by looking."""
        self._wake.set()

    async def run(self, stopping: asyncio.Event) -> None:
        """Works until `stopping` is set; what is under way then goes back into the queue."""
        recurring = [asyncio.create_task(self._keep_running(each)) for each in self._recurring]
        stop = asyncio.create_task(stopping.wait())
        try:
            while not stopping.is_set():
                if not await self._begin_next():
                    await self._pause(stop)
        finally:
            stop.cancel()
            left = list(self._running.values())
            tasks = [*recurring, *self._running]
            for task in tasks:
                task.cancel()
            await asyncio.gather(stop, *tasks, return_exceptions=True)
            # Here, because a task that was cancelled before its first step does nothing at all.
            for work in left:
                await self._give_back(work)

    async def _pause(self, stop: asyncio.Task[bool]) -> None:
        """Until somebody calls, a job ends, or it is time to look again."""
        waking = asyncio.create_task(self._wake.wait())
        await asyncio.wait(
            (stop, waking, *self._running),
            timeout=self._poll_s,
            return_when=asyncio.FIRST_COMPLETED,
        )
        waking.cancel()
        self._wake.clear()

    async def _begin_next(self) -> bool:
        """False when there is nothing to do, or no lane free for it."""
        job = await self._next()
        if job is None:
            return False
        work = _AtWork(job)
        task = asyncio.create_task(self._do(work))
        self._running[task] = work
        task.add_done_callback(self._running.pop)
        return True

    async def _next(self) -> Job | None:
        if len(self._running) >= self._lanes:
            return None
        is_last = 0 < len(self._running) == self._lanes - 1
        try:
            return await self._store.claim(
                list(self._kinds),
                EXPORTS if is_last else _LEAST_URGENT,
                lease_s=self._lease_s,
                now=self._clock(),
                # Whoever has an export at work here leaves the last lane to others.
                except_of=self._exporting() if is_last else (),
            )
        except Refusal as refused:
            self._log.warning("jobs wait", reason=refused.sentence)
        except Exception:  # noqa: BLE001 - the worker goes on whatever happened
            self._log.exception("jobs wait")
        return None

    def _exporting(self) -> set[int]:
        jobs = [work.job for work in self._running.values()]
        return {job.account_id for job in jobs if job.priority <= EXPORTS}

    async def _do(self, work: _AtWork) -> None:
        job = work.job
        self._log.info("job begun", job=job.job_id, kind=job.kind, tries=job.tries)
        lease = Lease(self._store, job, lease_s=self._lease_s, heartbeat_s=self._heartbeat_s)
        try:
            await lease.kept_while(self._run(work, lease))
            await self._complete(work, lease)
        except Lost:
            self._log.warning("job lost", job=job.job_id, kind=job.kind)
            await self._discard(work)
        except Paused:
            await self._end(job, "job paused", self._store.give_back(job))
        except Failed as failed:
            await self._fail(job, str(failed))
        except Refusal as refused:
            self._log.warning("job stopped", job=job.job_id, cause=repr(refused.__cause__))
            await self._put_off(job, refused.sentence)
        except Exception:  # noqa: BLE001 - the job's own fault, whatever it was
            self._log.exception("job failed", job=job.job_id, kind=job.kind)
            await self._put_off(job, f"Something went wrong; the log tells of it ({job.job_id}).")

    async def _run(self, work: _AtWork, lease: Lease) -> None:
        work.result = await self._kinds[work.job.kind].run(work.job, lease.progress)

    async def _complete(self, work: _AtWork, lease: Lease) -> None:
        job, now, kept_s = work.job, self._clock(), self._kinds[work.job.kind].kept_s
        ended = self._store.complete(
            job,
            work.result,
            total=lease.total,
            now=now,
            expires_at=None if kept_s is None else now + kept_s * MICROSECONDS,
        )
        if await self._end(job, "job completed", ended) is False:
            await self._discard(work)

    async def _give_back(self, work: _AtWork) -> None:
        """For the next worker, unless it has ended: the fence tells."""
        if await self._end(work.job, "job given back", self._store.give_back(work.job)) is not None:
            await self._discard(work)

    async def _discard(self, work: _AtWork) -> None:
        """Removes what a result names, unless its job offers it: then it stands in the job."""
        job, discard = work.job, self._kinds[work.job.kind].discard
        if work.result is None or discard is None:
            return
        try:
            shown = await self._store.one(job.account_id, job.job_id)
            if shown is None or shown.result != work.result:
                await discard(work.result)
        except Exception:  # noqa: BLE001 - tidying finds it later
            self._log.exception("result left", job=job.job_id, kind=job.kind)

    async def _put_off(self, job: Job, sentence: str) -> None:
        if job.tries >= MAX_TRIES:
            await self._fail(job, sentence)
            return
        pause_s = self._pauses_s[min(job.tries, len(self._pauses_s)) - 1]
        await self._end(
            job, "job put off", self._store.put_off(job, sentence, pause_s=pause_s), sentence
        )

    async def _fail(self, job: Job, sentence: str) -> None:
        ended = self._store.fail(job, sentence, now=self._clock())
        await self._end(job, "job failed", ended, sentence)

    async def _end(
        self, job: Job, event: str, ended: Awaitable[bool], reason: str | None = None
    ) -> bool | None:
        """Whether the job was still this worker's; None where the database is away.

        Then the lease runs out and the job is begun anew.
        """
        try:
            is_ours = await ended
        except Exception:  # noqa: BLE001 - the worker goes on whatever happened
            self._log.exception("job left", job=job.job_id, kind=job.kind)
            return None
        told = {"job": job.job_id, "kind": job.kind, "reason": reason}
        self._log.info(event if is_ours else "job lost", **told)
        return is_ours

    async def _keep_running(self, recurring: Recurring) -> None:
        pause_s = random.uniform(0, min(recurring.every_s, _SPREAD_S))  # noqa: S311 - no secret
        if recurring.every_s >= _SELDOM_S:
            pause_s += _AFTER_START_S
        while True:
            await asyncio.sleep(pause_s)
            pause_s = recurring.every_s
            try:
                await recurring.run()
            except Refusal as refused:
                told = {"reason": refused.sentence, "cause": repr(refused.__cause__)}
                self._log.warning("put off", recurring=recurring.name, **told)
            except Exception:  # noqa: BLE001 - it is tried again at the next time
                self._log.exception("failed", recurring=recurring.name)
