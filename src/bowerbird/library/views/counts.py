"""Counts the posts of Smart Views within a time budget, and remembers the counts.

A count reads the whole library in the worst case, and an account can have 200 views. So a request
waits for its counts only as long as its budget lasts. The counting goes on in the background and
the next request finds more counts. It is bounded: one count at a time per account, a few at a time
in this process, and each waits for its turn for a limited time. What is asked for last is counted
first: somebody looks at it.
"""

import asyncio
import hashlib
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
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
from bowerbird.storage.fair_queue import ON_SLOT, Bounds, FairQueue

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
    """How long a request and a page wait, how long a count may take and the background works.

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
    # The latest one.
    request: CountRequest
    # Ends with the count, or without.
    counted: asyncio.Future[None]


class ViewCounts:
    """Used on one event loop, except for `known_within`."""

    def __init__(self, budget: Budget | None = None) -> None:
        self.budget = budget or DEFAULT_BUDGET
        self._known = LruCache(_REMEMBERED)
        self._order = itertools.count()
        waiting = Bounds(per_account=_WAITING_MAX, wait_s=self.budget.background_s)
        self._turns = FairQueue("view count", _CONCURRENT, 1, waiting)
        # The counts of each account that wait or run, with a task for each; the latest is the last.
        self._wanted: dict[int, dict[Any, _Wanted]] = {}
        self._running: dict[int, Any] = {}
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
        waiting = self._wanted.setdefault(account_id, {})
        wanted = waiting.pop(key, None)
        if wanted is None:
            wanted = _Wanted(request, asyncio.get_running_loop().create_future())
            task = asyncio.create_task(self._run(account_id, waiting))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        wanted.request = request
        waiting[key] = wanted
        return wanted.counted

    async def _run(self, account_id: int, waiting: "dict[Any, _Wanted]") -> None:
        """Makes the latest count, or gives the oldest one up if there is no turn in time."""
        key = None
        try:
            async with self._turns.slot(account_id):
                key, done = next(reversed(waiting)), None
                self._running[account_id] = key
                try:
                    # Another request may want a newer count by now.
                    while (request := waiting[key].request).stamp != done:
                        if (counted := await self._counted(request)) is not None:
                            self._known.put(key, counted)
                        done = request.stamp
                finally:
                    del self._running[account_id]
        except Refusal:
            # The database is busy or closed, or too many wait. The next request starts again.
            pass
        except Exception:  # noqa: BLE001 - no request waits for this task's result
            self._log.exception("view count failed", account=account_id)
        finally:
            running = self._running.get(account_id)
            left = key or next(one for one in waiting if one != running)
            waiting.pop(left).counted.cancel()
            if not waiting:
                self._wanted.pop(account_id)

    async def _counted(self, request: CountRequest) -> _Known | None:
        """None if the count did not get a reader in time, because others use them all."""
        limit = _StatementLimit(self.budget.count_s)
        try:
            async with limit.started():
                return _Known(request.stamp, await request.total(), next(self._order))
        except TimeoutError:
            if not limit.has_slot:
                return None
            earlier = self._known.get(request.key)
            value = None if earlier is None else earlier.value
            now = asyncio.get_running_loop().time()
            return _Known(request.stamp, value, next(self._order), given_up_at=now)


class _StatementLimit:
    """Limits the time of a read from the moment when it gets a slot.

    The wait before that says nothing about the read. It is limited too, because not all that a
    count waits for is a slot.
    """

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._timeout = asyncio.timeout(limit_s + _SLOT_WAIT_S)
        self.has_slot = False

    @asynccontextmanager
    async def started(self) -> AsyncIterator[None]:
        token = ON_SLOT.set(self._start)
        try:
            # Cancelling the read interrupts its statement.
            async with self._timeout:
                yield
        finally:
            ON_SLOT.reset(token)

    def _start(self) -> None:
        self.has_slot = True
        if not self._timeout.expired():
            self._timeout.reschedule(asyncio.get_running_loop().time() + self._limit_s)


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
