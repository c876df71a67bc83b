"""Counts what an account saved and read: by month, hour of the week, author, label and site.

Counting reads the library, which takes 0.3 s for 100,000 posts. So a result is kept until the
library changes, one account counts one result at a time, and few accounts count at the same time.
"""

import asyncio
from datetime import date
from typing import Any, Final
from zoneinfo import ZoneInfo

import structlog
from msgspec import Struct

from bowerbird.clock import Clock
from bowerbird.errors import Refusal
from bowerbird.library.statistics import facets, periods
from bowerbird.library.statistics.periods import Slice, StatisticsPeriod
from bowerbird.lru import LruCache
from bowerbird.model.accounts import Account
from bowerbird.model.digests import AuthorCount, LabelCount
from bowerbird.model.instants import Span, local_day, zone_of
from bowerbird.storage.bookmarks.statistics import StatisticsStore
from bowerbird.storage.database import Database
from bowerbird.storage.fair_queue import Bounds, FairQueue

TOP: Final = 10
# Links are read from the posts themselves, so only from the newest ones.
LINKED_POSTS_MAX: Final = 5_000
_LINKED_PER_READ: Final = 1_000
HOURS_OF_WEEK: Final = 168
_DAYS_OF_MONTH: Final = 31
# Leaves one of SQLite's three readers to everything else.
_CONCURRENT: Final = 2
# Other periods, or other versions of the library, that one account may wait for.
_WAITING: Final = Bounds(per_account=4, wait_s=60.0)
_REMEMBERED: Final = 1_000


class SliceCount(Struct, frozen=True):
    """What was saved in a month or a year, and how much of it is read now."""

    first_day: date
    start: int
    end: int
    saved: int
    read: int


class DomainCount(Struct, frozen=True):
    domain: str
    count: int


class Summary(Struct, frozen=True, kw_only=True):
    period: StatisticsPeriod
    time_zone: str
    first_day: date
    is_by_year: bool
    slices: list[SliceCount]
    # From Monday, 0 to 1 o'clock.
    hours: list[int]
    author_total: int
    authors: list[AuthorCount]
    labelled: int
    labels: list[LabelCount]
    # Of the newest posts, see `LINKED_POSTS_MAX`.
    linked_posts: int
    domains: list[DomainCount]

    @property
    def saved(self) -> int:
        return sum(part.saved for part in self.slices)

    @property
    def read(self) -> int:
        return sum(part.read for part in self.slices)


class Statistics:
    """Used on one event loop."""

    def __init__(self, database: Database, clock: Clock, wait_s: float = 3.0) -> None:
        """`wait_s` is how long a request waits. Counting goes on after that."""
        self._store = StatisticsStore(database)
        self._clock = clock
        self._wait_s = wait_s
        self._known = LruCache(_REMEMBERED)
        self._turns = FairQueue("turn to count", _CONCURRENT, 1, _WAITING)
        self._counting: dict[Any, asyncio.Task[Summary]] = {}
        self._log = structlog.get_logger()

    async def of(
        self, account: Account, period: StatisticsPeriod, time_zone: str
    ) -> Summary | None:
        """None if they are still being counted: another request will find them."""
        zone, now = zone_of(time_zone), self._clock()
        today = local_day(now, zone)
        key = (account.account_id, account.epoch, account.version, period, time_zone, today)
        known: Summary | None = self._known.get(key)
        if known is not None:
            return known
        task = self._counting.get(key)
        if task is None:
            task = asyncio.create_task(self._in_turn(account, period, zone, now))
            self._counting[key] = task
            task.add_done_callback(lambda done: self._keep(key, done))
        await asyncio.wait((task,), timeout=self._wait_s)
        return task.result() if task.done() else None

    def _keep(self, key: Any, done: "asyncio.Task[Summary]") -> None:
        del self._counting[key]
        if done.cancelled():
            return
        error = done.exception()
        if error is None:
            self._known.put(key, done.result())
        elif not isinstance(error, Refusal):
            # A request may not have waited for it.
            self._log.error("statistics failed", account=key[0], exc_info=error)

    async def _in_turn(
        self, account: Account, period: StatisticsPeriod, zone: ZoneInfo, now: int
    ) -> Summary:
        async with self._turns.slot(account.account_id):
            return await self._counted(account, period, zone, now)

    async def _counted(
        self, account: Account, period: StatisticsPeriod, zone: ZoneInfo, now: int
    ) -> Summary:
        first = await self._store.first_saved(account, periods.earliest(zone, now))
        first_saved = now if first is None else first
        parts = periods.slices(period, zone, now, first_saved)
        span = Span(parts[0].start, parts[-1].end)
        counts, hours = await self._by_time(account, parts, zone)
        authors, author_total = await self._store.authors(account, span, TOP)
        linked_posts, linked = await self._domains(account, span)
        return Summary(
            period=period,
            time_zone=zone.key,
            first_day=local_day(first_saved, zone),
            is_by_year=(parts[0].next_day - parts[0].first_day).days > _DAYS_OF_MONTH,
            slices=counts,
            hours=hours,
            author_total=author_total,
            authors=authors,
            labelled=await self._store.labelled(account, span),
            labels=await self._store.labels(account, span, TOP),
            linked_posts=linked_posts,
            domains=linked,
        )

    async def _by_time(
        self, account: Account, parts: list[Slice], zone: ZoneInfo
    ) -> tuple[list[SliceCount], list[int]]:
        spans = [(n, span) for n, part in enumerate(parts) for span in periods.shifted(part, zone)]
        saved, read, hours = [0] * len(parts), [0] * len(parts), [0] * HOURS_OF_WEEK
        for row in await self._store.hours(account, [span for _, span in spans]):
            position, hour, count, read_count = row
            part = spans[position][0]
            saved[part] += count
            read[part] += read_count
            hours[hour] += count
        counts = [
            SliceCount(part.first_day, part.start, part.end, saved[n], read[n])
            for n, part in enumerate(parts)
        ]
        return counts, hours

    async def _domains(self, account: Account, span: Span) -> tuple[int, list[DomainCount]]:
        counts: dict[str, int] = {}
        before, total = (span.end, 0), 0
        while total < LINKED_POSTS_MAX:
            rows = await self._store.newest(account, span.start, before, _LINKED_PER_READ)
            # On a thread: reading the posts takes 4 µs each.
            await asyncio.to_thread(facets.counted, [row[2] for row in rows], counts)
            total += len(rows)
            if len(rows) < _LINKED_PER_READ:
                break
            before = (rows[-1][0], rows[-1][1])
        return total, [DomainCount(*pair) for pair in facets.most_linked(counts, TOP)]
