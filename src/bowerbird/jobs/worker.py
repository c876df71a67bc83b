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
from bowerbird.model.jobs import EMBEDDING, MOST_TRIES, Job
from bowerbird.storage.database import Database
from bowerbird.storage.jobs import JobStore

LEASE_S: Final = 15.0
HEARTBEAT_S: Final = 5.0
POLL_S: Final = 1.0
LANES: Final = 3
# Between the first try and the second, and between the second and the third.
PAUSES_S: Final = (5.0, 30.0)
_LEAST_URGENT: Final = 1_000_000
# Workers that start together sweep apart.
_SPREAD_S: Final = 5.0


class Failed(Exception):  # noqa: N818 - named for what it is
    """The job cannot be done, however often it is tried. Says why in a sentence."""


class Paused(Exception):  # noqa: N818 - named for what it is
    """The job has had its turn. It goes on later, where it was, behind those of others."""


class Kind(Struct, frozen=True):
    """A kind of job. `run` returns the result as JSON, or None."""

    name: str
    run: Callable[[Job, Progress], Awaitable[bytes | None]]
    # How long the file of its result is kept; None for kinds that leave none.
    kept_s: int | None = None


class Recurring(Struct, frozen=True):
    """What is looked after again and again; a wake-up may be lost, a sweep never is."""

    name: str
    every_s: float
    run: Callable[[], Awaitable[None]]


class Worker:
    def __init__(
        self,
        database: Database,
        kinds: Sequence[Kind],
        recurring: Sequence[Recurring],
        clock: Clock,
        *,
        lanes: int = LANES,
        lease_s: float = LEASE_S,
        heartbeat_s: float = HEARTBEAT_S,
        poll_s: float = POLL_S,
        pauses_s: Sequence[float] = PAUSES_S,
    ) -> None:
        """`lanes` is how many jobs are done at once; those that may take long leave one free."""
        self._store = JobStore(database)
        self._kinds = {kind.name: kind for kind in kinds}
        self._recurring = recurring
        self._clock = clock
        self._lanes = lanes
        self._lease_s = lease_s
        self._heartbeat_s = heartbeat_s
        self._poll_s = poll_s
        self._pauses_s = pauses_s
        self._running: dict[asyncio.Task[None], Job] = {}
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
            tasks = [*recurring, *self._running]
            for task in tasks:
                task.cancel()
            await asyncio.gather(stop, *tasks, return_exceptions=True)

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
        task = asyncio.create_task(self._do(job))
        self._running[task] = job
        task.add_done_callback(self._running.pop)
        return True

    async def _next(self) -> Job | None:
        if len(self._running) >= self._lanes:
            return None
        most_priority = EMBEDDING - 1 if self._is_last_lane_left() else _LEAST_URGENT
        kinds = list(self._kinds)
        try:
            if not await self._store.is_any_due(kinds, most_priority):
                return None
            return await self._store.claim(
                kinds, most_priority, lease_s=self._lease_s, now=self._clock()
            )
        except Refusal as refused:
            self._log.warning("jobs wait", reason=refused.sentence)
        except Exception:  # noqa: BLE001 - the worker goes on whatever happened
            self._log.exception("jobs wait")
        return None

    def _is_last_lane_left(self) -> bool:
        patient = sum(job.priority >= EMBEDDING for job in self._running.values())
        return 0 < self._lanes - 1 <= patient

    async def _do(self, job: Job) -> None:
        self._log.info("job begun", job=job.job_id, kind=job.kind, tries=job.tries)
        lease = Lease(self._store, job, lease_s=self._lease_s, heartbeat_s=self._heartbeat_s)
        try:
            result = await lease.kept_while(self._kinds[job.kind].run(job, lease.progress))
            await self._complete(job, lease, result)
        except Lost:
            self._log.warning("job lost", job=job.job_id, kind=job.kind)
        except asyncio.CancelledError:
            await self._end(job, "job given back", self._store.give_back(job))
            raise
        except Paused:
            await self._end(job, "job paused", self._store.give_back(job))
        except Failed as failed:
            await self._fail(job, str(failed))
        except Refusal as refused:
            await self._put_off(job, refused.sentence)
        except Exception:  # noqa: BLE001 - the job's own fault, whatever it was
            self._log.exception("job failed", job=job.job_id, kind=job.kind)
            await self._put_off(job, f"Something went wrong; the log tells of it ({job.job_id}).")

    async def _complete(self, job: Job, lease: Lease, result: bytes | None) -> None:
        now, kept_s = self._clock(), self._kinds[job.kind].kept_s
        expires_at = None if kept_s is None else now + kept_s * MICROSECONDS
        ended = self._store.complete(job, result, total=lease.total, now=now, expires_at=expires_at)
        await self._end(job, "job completed", ended)

    async def _put_off(self, job: Job, sentence: str) -> None:
        if job.tries >= MOST_TRIES:
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
    ) -> None:
        """Where the database is away, the lease runs out and the job is begun anew."""
        try:
            is_ours = await ended
        except Exception:  # noqa: BLE001 - the worker goes on whatever happened
            self._log.exception("job left", job=job.job_id, kind=job.kind)
            return
        told = {"job": job.job_id, "kind": job.kind, "reason": reason}
        self._log.info(event if is_ours else "job lost", **told)

    async def _keep_running(self, recurring: Recurring) -> None:
        pause_s = random.uniform(0, min(recurring.every_s, _SPREAD_S))  # noqa: S311 - no secret
        while True:
            await asyncio.sleep(pause_s)
            pause_s = recurring.every_s
            try:
                await recurring.run()
            except Refusal as refused:
                self._log.warning("put off", recurring=recurring.name, reason=refused.sentence)
            except Exception:  # noqa: BLE001 - it is tried again at the next time
                self._log.exception("failed", recurring=recurring.name)
