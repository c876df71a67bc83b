"""Counts the posts of Smart Views within a time budget, and remembers the counts.

A count reads the whole library in the worst case, and an account can have 200 views. So a request
waits for its counts only as long as its budget lasts. The counting goes on in the background and
the next request finds more counts. It is bounded: one count at a time per account, and a few at a
time in this process, and each waits for its turn for a limited time. What is asked for last is
counted first: somebody looks at it.
"""

import asyncio
import hashlib
import itertools
from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Any, Final

import msgspec
import structlog
from msgspec import Struct

from bowerbird.errors import Refusal
from bowerbird.lru import LruCache
from bowerbird.model.accounts import Account
from bowerbird.model.labels import Query
from bowerbird.requests.limits import VIEWS_MAX
from bowerbird.storage.fair_queue import ON_SLOT, Bounds

_REMEMBERED: Final = 50_000
# Leaves one of SQLite's three readers to everything else.
_CONCURRENT: Final = 2
_WAITING_MAX: Final = 2 * VIEWS_MAX
# A little longer than a queue lets a read wait, which then refuses it.
_SLOT_WAIT_S: Final = Bounds().wait_s + 1
_encode: Final = msgspec.json.Encoder(order="sorted").encode


class CountState(StrEnum):
    EXACT = "exact"
    # The library has changed since, or a relative date has moved.
    EARLIER = "earlier"
    PENDING = "pending"
    # Counting took too long. It is tried again when the library changes, or after some minutes.
    UNAVAILABLE = "unavailable"

    @property
    def is_pending(self) -> bool:
        """Whether a later request will probably get the exact count."""
        return self in (CountState.EARLIER, CountState.PENDING)


class Count(Struct, frozen=True):
    value: int
    state: CountState


class Budget(Struct, frozen=True):
    """How long a request and a page wait, how long a count may take, and may wait for its turn.

    A count that took too long is tried again after `retry_s`.
    """

    request_s: float = 0.25
    # For counts of views and buckets that are not its subject.
    page_s: float = 0.02
    count_s: float = 5.0
    background_s: float = 60.0
    retry_s: float = 300.0


DEFAULT_BUDGET = Budget()


class CountRequest(Struct, frozen=True, dict=True):
    """A query to count for one state of a library."""

    account: Account
    query: Query
    # Equal as long as the count of the query cannot have changed: version, minute, vectors.
    stamp: tuple[int, int, str]
    total: Callable[[], Awaitable[int]]
    # The count, if the library's counters have it.
    known: int | None = None

    @cached_property
    def key(self) -> tuple[int, int, bytes]:
        return (self.account.account_id, self.account.epoch, _digest(self.query))


class _Known(Struct, frozen=True):
    stamp: tuple[int, int, str]
    value: int | None
    # Grows with every count, so that the oldest counts are repeated first.
    order: int
    # The time of the event loop at which a count that took too long was given up.
    given_up_at: float | None = None


class _Wanted(Struct):
    # The latest one, and until when it may begin.
    request: CountRequest
    until: float
    # Ends with the count, or without.
    counted: asyncio.Future[None]


class ViewCounts:
    """Used on one event loop, except for `known_within`."""

    def __init__(self, budget: Budget | None = None) -> None:
        self.budget = budget or DEFAULT_BUDGET
        self._known = LruCache(_REMEMBERED)
        self._order = itertools.count()
        # First come, first served. An account waits for one slot at a time, so accounts take turns.
        self._slots = asyncio.Semaphore(_CONCURRENT)
        # The counts that each account waits for; the latest is the last.
        self._wanted: dict[int, dict[Any, _Wanted]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._log = structlog.get_logger()

    async def of(
        self, requests: Sequence[CountRequest], wait_s: float | None = None
    ) -> list[Count]:
        """The counts of one account's queries, as far as they are known within the budget."""
        for request in requests:
            if request.known is not None:
                known = _Known(request.stamp, request.known, next(self._order))
                self._known.put(request.key, known)
        missing = [request for request in requests if not self._is_settled(request)]
        if missing:
            missing.sort(key=self._last_counted)
            counted = [self._start(request) for request in reversed(missing)]
            await asyncio.wait(counted, timeout=self.budget.request_s if wait_s is None else wait_s)
        return [_count(self._known.get(request.key), request.stamp) for request in requests]

    def known_within(self, account: Account, query: Query, stamp: tuple[int, int]) -> Count:
        """What is known for a version and minute. May be called from the writer's thread."""
        known = self._known.peek((account.account_id, account.epoch, _digest(query)))
        tag = "" if known is None else known.stamp[2]
        return _count(known, (*stamp, tag))

    def _is_settled(self, request: CountRequest) -> bool:
        known = self._known.get(request.key)
        if known is None or known.stamp != request.stamp:
            return False
        now = asyncio.get_running_loop().time()
        return known.given_up_at is None or now < known.given_up_at + self.budget.retry_s

    def _last_counted(self, request: CountRequest) -> int:
        known = self._known.get(request.key)
        return -1 if known is None else known.order

    def _start(self, request: CountRequest) -> asyncio.Future[None]:
        """Puts the count before all others of the account."""
        account_id, key = request.account.account_id, request.key
        waiting = self._wanted.get(account_id)
        if waiting is None:
            waiting = self._wanted[account_id] = {}
            task = asyncio.create_task(self._count_all(account_id, waiting))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        wanted, loop = waiting.pop(key, None), asyncio.get_running_loop()
        if wanted is None:
            wanted = _Wanted(request, 0, loop.create_future())
        wanted.request, wanted.until = request, loop.time() + self.budget.background_s
        waiting[key] = wanted
        if len(waiting) > _WAITING_MAX:
            waiting.pop(next(iter(waiting))).counted.cancel()
        return wanted.counted

    async def _count_all(self, account_id: int, waiting: dict[Any, _Wanted]) -> None:
        """Runs the counts that an account waits for, the latest first."""
        try:
            while waiting:
                async with self._slots:
                    await self._count_latest(account_id, waiting)
        finally:
            del self._wanted[account_id]
            for left in waiting.values():
                left.counted.cancel()

    async def _count_latest(self, account_id: int, waiting: dict[Any, _Wanted]) -> None:
        """Runs the latest count. The next request starts those again that waited too long."""
        key, wanted = next(reversed(waiting.items()))
        request = wanted.request
        try:
            if asyncio.get_running_loop().time() < wanted.until:
                await self._count(request)
        except Refusal:
            # The database is busy or closed. The next request starts again.
            pass
        except Exception:  # noqa: BLE001 - no request waits for this task's result
            self._log.exception("view count failed", account=account_id)
        # Another request may want a newer count by now.
        if waiting.get(key) is wanted and wanted.request.stamp == request.stamp:
            waiting.pop(key).counted.cancel()

    async def _count(self, request: CountRequest) -> None:
        """The time counts from when the read gets a slot: the wait before says nothing about it.

        The wait is limited too, because not all that a count waits for is a slot. If no slot was
        free in time, nothing is remembered.
        """
        limit = asyncio.timeout(self.budget.count_s + _SLOT_WAIT_S)
        started: list[float] = []

        def start() -> None:
            started.append(asyncio.get_running_loop().time())
            if not limit.expired():
                limit.reschedule(started[-1] + self.budget.count_s)

        token = ON_SLOT.set(start)
        try:
            # Cancelling the read interrupts its statement.
            async with limit:
                found = _Known(request.stamp, await request.total(), next(self._order))
        except TimeoutError:
            if not started:
                return
            earlier = self._known.get(request.key)
            value = None if earlier is None else earlier.value
            now = asyncio.get_running_loop().time()
            found = _Known(request.stamp, value, next(self._order), given_up_at=now)
        finally:
            ON_SLOT.reset(token)
        self._known.put(request.key, found)


def _count(known: _Known | None, stamp: tuple[int, int, str]) -> Count:
    if known is None:
        return Count(0, CountState.PENDING)
    is_current = known.stamp == stamp
    if known.given_up_at is not None and is_current:
        return Count(known.value or 0, CountState.UNAVAILABLE)
    if known.value is None:
        return Count(0, CountState.PENDING)
    return Count(known.value, CountState.EXACT if is_current else CountState.EARLIER)


def _digest(query: Query) -> bytes:
    return hashlib.blake2b(_encode(query), digest_size=16).digest()
