"""Counts what an account saved and read: by month, hour, author, label, site and other properties.

Counting reads the library, which takes 0.3 s for 100,000 posts, on the readers that accounts share
in turn. So a result of the statistics is kept until the library changes. Facets count the
bookmarks that match a query.
"""

import asyncio
import re
from bisect import bisect_left
from calendar import monthrange
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from operator import itemgetter
from typing import Any, Final
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import msgspec
from msgspec import UNSET, Struct, UnsetType

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.library.access import plans
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.list_request import VectorState
from bowerbird.library.bookmarks.searching.post_texts import texts_of
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.lru import LruCache
from bowerbird.model import instants as relative_dates
from bowerbird.model import json_depth
from bowerbird.model.accounts import Account
from bowerbird.model.digests import AuthorCount, LabelCount
from bowerbird.model.instants import Span, instant_of, local_day, zone_of
from bowerbird.model.posts.filters import BookmarkFilter
from bowerbird.model.posts.networks import name_of
from bowerbird.requests.bookmarks import FacetsQuery
from bowerbird.requests.fields import gates_for
from bowerbird.requests.filters import sent
from bowerbird.requests.limits import FACET_LINKED_POSTS_MAX, PAGE_DEFAULT
from bowerbird.storage.bookmarks.statistics import ShiftedSpan
from bowerbird.storage.database import Database
from bowerbird.storage.stores import Service, TimedService

_MONTHS: Final = 24
_MOST_MONTHS: Final = 60
# Posts that say they were saved earlier have no date that means anything.
YEARS_MAX: Final = 30
_DECEMBER: Final = 12
_DAY: Final = 86_400 * MICROSECONDS
# 1970 began on a Thursday.
_FROM_MONDAY: Final = 3 * _DAY


class StatisticsPeriod(StrEnum):
    MONTHS = "24-months"
    YEAR = "year"
    ALL = "all"


class Slice(Struct, frozen=True):
    """A month or a year."""

    first_day: date
    next_day: date
    start: int
    end: int


def earliest(zone: ZoneInfo, now: int) -> int:
    """The first instant that statistics can be about."""
    return instant_of(date(local_day(now, zone).year - YEARS_MAX, 1, 1), 0, zone)


def slices(period: StatisticsPeriod, zone: ZoneInfo, now: int, first_saved: int) -> list[Slice]:
    """The months or years of a period, up to the current one."""
    today = local_day(now, zone)
    this_month = today.replace(day=1)
    if period is StatisticsPeriod.YEAR:
        firsts = [date(today.year, month, 1) for month in range(1, today.month + 1)]
    elif period is StatisticsPeriod.MONTHS:
        firsts = [_months_before(this_month, back) for back in range(_MONTHS)][::-1]
    else:
        first = min(local_day(first_saved, zone), today)
        months = 12 * (today.year - first.year) + today.month - first.month + 1
        if months > _MOST_MONTHS:
            firsts = [date(year, 1, 1) for year in range(first.year, today.year + 1)]
            return _between(firsts, date(today.year + 1, 1, 1), zone)
        firsts = [_months_before(this_month, back) for back in range(months)][::-1]
    return _between(firsts, _months_before(this_month, -1), zone)


def shifted(part: Slice, zone: ZoneInfo) -> list[ShiftedSpan]:
    """A slice, cut where the clocks change."""
    spans: list[ShiftedSpan] = []
    start, shift = part.start, _shift(part.start, zone)
    for day_later in range(part.start + _DAY, part.end + _DAY, _DAY):
        day = min(day_later, part.end)
        if _shift(day - 1, zone) != shift:
            change = _change(max(day - _DAY - MICROSECONDS, start), day, zone)
            spans.append(ShiftedSpan(start, change, shift))
            start, shift = change, _shift(change, zone)
    return [*spans, ShiftedSpan(start, part.end, shift)]


def _between(firsts: list[date], end: date, zone: ZoneInfo) -> list[Slice]:
    nexts = [*firsts[1:], end]
    return [
        Slice(first, after, instant_of(first, 0, zone), instant_of(after, 0, zone))
        for first, after in zip(firsts, nexts, strict=True)
    ]


def _months_before(month: date, count: int) -> date:
    years, index = divmod(12 * month.year + month.month - 1 - count, _DECEMBER)
    return date(years, index + 1, 1)


def _shift(instant: int, zone: ZoneInfo) -> int:
    moment = datetime.fromtimestamp(instant // MICROSECONDS, UTC).astimezone(zone)
    return (moment.utcoffset() or timedelta()) // timedelta(microseconds=1) + _FROM_MONDAY


def _change(start: int, end: int, zone: ZoneInfo) -> int:
    """When the clocks change between two instants, to the second."""
    before, first, last = _shift(start, zone), start // MICROSECONDS, end // MICROSECONDS
    while last - first > 1:
        middle = (first + last) // 2
        if _shift(middle * MICROSECONDS, zone) == before:
            first = middle
        else:
            last = middle
    return last * MICROSECONDS


TOP: Final = 10
# Links are read from the posts themselves, so only from the newest ones.
LINKED_POSTS_MAX: Final = 5_000
_LINKED_PER_READ: Final = 1_000
HOURS_OF_WEEK: Final = 168
_DAYS_OF_MONTH: Final = 31
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


class Statistics(TimedService):
    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._known = LruCache(_REMEMBERED)
        self._counting: dict[Any, asyncio.Task[Summary]] = {}

    async def of(self, account: Account, period: StatisticsPeriod, time_zone: str) -> Summary:
        zone, now = zone_of(time_zone), self._clock()
        today = local_day(now, zone)
        key = (account.account_id, account.epoch, account.version, period, time_zone, today)
        known: Summary | None = self._known.get(key)
        if known is not None:
            return known
        counting = self._counting.get(key)
        if counting is None:
            counting = asyncio.create_task(self._keep(key, account, period, zone, now))
            self._counting[key] = counting
            # Retrieve the exception; asyncio warns otherwise.
            counting.add_done_callback(lambda done: done.cancelled() or done.exception())
        # Others may wait for it too.
        return await asyncio.shield(counting)

    async def _keep(
        self, key: Any, account: Account, period: StatisticsPeriod, zone: ZoneInfo, now: int
    ) -> Summary:
        try:
            known = await self._counted(account, period, zone, now)
            self._known.put(key, known)
            return known
        finally:
            del self._counting[key]

    async def _counted(
        self, account: Account, period: StatisticsPeriod, zone: ZoneInfo, now: int
    ) -> Summary:
        first = await self._stores.statistics.first_saved(account, earliest(zone, now))
        first_saved = now if first is None else first
        parts = slices(period, zone, now, first_saved)
        span = Span(parts[0].start, parts[-1].end)
        counts, hours = await self._by_time(account, parts, zone)
        authors, author_total = await self._stores.statistics.authors(account, span, TOP)
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
            labelled=await self._stores.statistics.labelled(account, span),
            labels=await self._stores.statistics.labels(account, span, TOP),
            linked_posts=linked_posts,
            domains=linked,
        )

    async def _by_time(
        self, account: Account, parts: list[Slice], zone: ZoneInfo
    ) -> tuple[list[SliceCount], list[int]]:
        spans = [(n, span) for n, part in enumerate(parts) for span in shifted(part, zone)]
        saved, read, hours = [0] * len(parts), [0] * len(parts), [0] * HOURS_OF_WEEK
        for row in await self._stores.statistics.hours(account, [span for _, span in spans]):
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
            rows = await self._stores.statistics.newest(
                account, span.start, before, _LINKED_PER_READ
            )
            # On a thread: reading the posts takes 4 µs each.
            await asyncio.to_thread(counted, [row[2] for row in rows], counts)
            total += len(rows)
            if len(rows) < _LINKED_PER_READ:
                break
            before = (rows[-1][0], rows[-1][1])
        return total, [DomainCount(*pair) for pair in most_linked(counts, TOP)]


_URL: Final = re.compile(r"\bhttps?://([^\s/?#<>\"']{4,300})", re.IGNORECASE)
_HOST: Final = re.compile(r"(?=.{4,253}\Z)[^\W_]([\w-]*[^\W_])?(\.[^\W_]([\w-]*[^\W_])?)+")
# It hides where a link leads.
_SHORTENED: Final = "t.co"


class _Attachment(Struct, frozen=True):
    type: Any = None
    url: Any = None


class _Details(Struct, frozen=True):
    text: str = ""
    attachments: list[_Attachment] = []


class _Linking(Struct, frozen=True):
    tweet_details: _Details = _Details()


_decode: Final = msgspec.json.Decoder(_Linking).decode


def counted(renderings: Iterable[bytes], counts: dict[str, int]) -> None:
    """Adds the posts that link to each site."""
    for rendering in renderings:
        for domain in _domains(rendering):
            counts[domain] = counts.get(domain, 0) + 1


def most_linked(counts: dict[str, int], limit: int) -> Sequence[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]


def _domains(rendering: bytes) -> set[str]:
    try:
        details = _decode(json_depth.cut(rendering + b"}")).tweet_details
    except msgspec.MsgspecError:
        return set()
    hosts = [found[1] for found in _URL.finditer(details.text)]
    hosts += [_host(each.url) for each in details.attachments if each.type == "link"]
    return {domain for host in hosts if (domain := _domain(host))}


def _host(url: object) -> str:
    try:
        return (urlsplit(url).hostname or "") if isinstance(url, str) else ""
    except ValueError:
        return ""


def _domain(host: str) -> str:
    """A site's name without its port, its user and `www.`; '' if it is none."""
    name = host.rpartition("@")[2].partition(":")[0].strip(".,;!)(").lower()
    name = name.removeprefix("www.")
    return name if _HOST.fullmatch(name) and name != _SHORTENED else ""


_QUARTER: Final = 900_000_000
# Reading and decoding this many posts takes a few milliseconds.
_READ_AT_ONCE: Final = 1_000
_ONLY: Final = BookmarkFilter(unread_only=False, hide_archived=False)


class Facet(Struct, frozen=True):
    """A value of the property, and how many bookmarks have it."""

    value: str
    """A handle, label, month such as 2026-10, site, type of media, language or network."""
    count: int
    """Number of bookmarks with this value."""
    name: str | UnsetType = UNSET
    """The display name of an author or a network."""


class Facets(Struct, frozen=True):
    facets: list[Facet]
    # How many bookmarks match, and how many values they have.
    posts: int
    values: int
    # How many bookmarks were read, if not all were.
    read: int | None = None


class FacetCounts(Service):
    def __init__(self, database: Database, bookmarks: Bookmarks, meaning: SemanticSearch) -> None:
        super().__init__(database)
        self._meaning = meaning
        self._lists = bookmarks

    async def of(
        self, account: Account, query: FacetsQuery, vectors: VectorState | None = None
    ) -> Facets:
        plans.check_fields(account, gates_for(FacetsQuery, sent(query)))
        filter = await self._lists.filter(account, query)
        filter = await self._lists.labels.resolved(account, filter)
        if filter.meaning is not None:
            filter = await self._nearest(account, filter, vectors)
        posts = await self._lists.total(account, filter)
        if not posts:
            return Facets([], 0, 0)
        return await self._counted(account, query, filter, posts)

    async def _nearest(
        self, account: Account, filter: BookmarkFilter, vectors: VectorState | None
    ) -> BookmarkFilter:
        """Only the posts that a search by meaning finds."""
        vectors = vectors or await self._lists.vector_state(account)
        store = await self._meaning.required(account, vectors.store)
        numbers = await self._lists.rankings.numbers(account, filter, store, is_ordered=False)
        post_ids = await self._stores.bookmarks.post_ids(account, filter, list(numbers))
        return msgspec.structs.replace(_ONLY, post_ids=tuple(post_ids))

    async def _counted(
        self, account: Account, query: FacetsQuery, filter: BookmarkFilter, posts: int
    ) -> Facets:
        limit = query.limit or PAGE_DEFAULT
        match query.by:
            case "author":
                return await self._authors(account, filter, posts, limit)
            case "label":
                rows = await self._stores.facets.labels(account, filter, limit)
                named = [Facet(name, count) for name, count, _ in rows]
                return Facets(named, posts, rows[0][2] if rows else 0)
            case "month":
                found = await self._months(account, filter)
            case "domain":
                return await self._domains(account, filter, posts, limit)
            case "language":
                found = [
                    Facet(*row) for row in await self._stores.facets.languages(account, filter)
                ]
            case "network":
                counts = await self._stores.facets.networks(account, filter)
                counts.pop("", None)
                found = [
                    Facet(one.value, one.count, name_of(one.value)) for one in _largest(counts)
                ]
            case "media":
                counts = await self._stores.facets.media(account, filter)
                found = _largest({name: count for name, count in counts.items() if count})
        return Facets(found[:limit], posts, len(found))

    async def _authors(
        self, account: Account, filter: BookmarkFilter, posts: int, limit: int
    ) -> Facets:
        rows = await self._stores.facets.authors(account, filter, limit)
        stored = await self._stores.facets.renderings(account, [row[0] for row in rows])
        found = [_author(stored[number], count) for number, count, _ in rows if number in stored]
        return Facets(found, posts, rows[0][2] if rows else 0)

    async def _months(self, account: Account, filter: BookmarkFilter) -> list[Facet]:
        """The latest first."""
        preferences = await self._stores.digests.preferences(account.account_id)
        rows = await self._stores.facets.quarters(account, filter)
        return await asyncio.to_thread(_by_month, rows, preferences.time_zone)

    async def _domains(
        self, account: Account, filter: BookmarkFilter, posts: int, limit: int
    ) -> Facets:
        numbers = await self._stores.bookmarks.numbers(account, filter, None)
        # The posts that arrived last.
        newest = list(numbers[-FACET_LINKED_POSTS_MAX:])
        counts: dict[str, int] = {}
        for first in range(0, len(newest), _READ_AT_ONCE):
            some = await self._stores.facets.renderings(
                account, newest[first : first + _READ_AT_ONCE]
            )
            await asyncio.to_thread(counted, some.values(), counts)
        read = len(newest) if len(newest) < len(numbers) else None
        return Facets(_largest(counts)[:limit], posts, len(counts), read)


def _author(rendering: bytes, count: int) -> Facet:
    post = texts_of(rendering + b"}")
    return Facet(post.author_username, count, post.author_details.name or UNSET)


def _largest(counts: dict[str, int]) -> list[Facet]:
    return [Facet(*pair) for pair in most_linked(counts, len(counts))]


def _by_month(rows: Sequence[Sequence[int]], time_zone: str) -> list[Facet]:
    zone = zone_of(time_zone)
    rows = sorted(rows, key=itemgetter(0))
    instants = [row[0] * _QUARTER for row in rows]
    found: list[Facet] = []
    first = 0
    # From one month with posts to the next: a single post of the year 1 adds no others.
    while first < len(rows):
        day = local_day(instants[first], zone)
        last_day = day.replace(day=monthrange(day.year, day.month)[1])
        after = bisect_left(instants, relative_dates.end_of(last_day, zone), first + 1)
        count = sum(row[1] for row in rows[first:after])
        found.append(Facet(day.isoformat()[:7], count))
        first = after
    return found[::-1]
