"""Counts of the bookmarks that match, by one of the kinds of `By`."""

import asyncio
import re
from bisect import bisect_left
from calendar import monthrange
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET, Struct, UnsetType

from bowerbird.library.access import plans
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.list_request import VectorState
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.model import instants as relative_dates
from bowerbird.model import json_depth
from bowerbird.model.accounts import Account
from bowerbird.model.instants import local_day, zone_of
from bowerbird.model.posts.filters import BookmarkFilter
from bowerbird.model.posts.networks import name_of
from bowerbird.requests.bookmarks import FacetsQuery
from bowerbird.requests.fields import gates_for
from bowerbird.requests.filters import sent
from bowerbird.requests.limits import FACET_LINKED_POSTS_MAX, PAGE_DEFAULT
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.bookmarks.statistics import FacetStore
from bowerbird.storage.database import Database
from bowerbird.storage.upkeep.digests import DigestStore

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


class _Author(Struct):
    name: str | None = None


class _Post(Struct):
    author_username: str | None = None
    author_details: _Author | None = None


_post: Final = msgspec.json.Decoder(_Post).decode


class FacetCounts:
    def __init__(self, database: Database, bookmarks: Bookmarks, meaning: SemanticSearch) -> None:
        self._store = FacetStore(database)
        self._bookmarks = BookmarkStore(database)
        self._preferences = DigestStore(database)
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
        numbers = await self._lists.rankings.numbers(account, filter, None, store)
        post_ids = await self._bookmarks.post_ids(account, filter, list(numbers))
        return msgspec.structs.replace(_ONLY, post_ids=tuple(post_ids))

    async def _counted(
        self, account: Account, query: FacetsQuery, filter: BookmarkFilter, posts: int
    ) -> Facets:
        limit = query.limit or PAGE_DEFAULT
        match query.by:
            case "author":
                return await self._authors(account, filter, posts, limit)
            case "label":
                rows = await self._store.labels(account, filter, limit)
                named = [Facet(name, count) for name, count, _ in rows]
                return Facets(named, posts, rows[0][2] if rows else 0)
            case "month":
                found = await self._months(account, filter)
            case "domain":
                return await self._domains(account, filter, posts, limit)
            case "language":
                found = [Facet(*row) for row in await self._store.languages(account, filter)]
            case "network":
                counts = await self._store.networks(account, filter)
                counts.pop("", None)
                found = [
                    Facet(one.value, one.count, name_of(one.value)) for one in _largest(counts)
                ]
            case "media":
                counts = await self._store.media(account, filter)
                found = _largest({name: count for name, count in counts.items() if count})
        return Facets(found[:limit], posts, len(found))

    async def _authors(
        self, account: Account, filter: BookmarkFilter, posts: int, limit: int
    ) -> Facets:
        rows = await self._store.authors(account, filter, limit)
        stored = await self._store.renderings(account, [row[0] for row in rows])
        found = [_author(stored[number], count) for number, count, _ in rows if number in stored]
        return Facets(found, posts, rows[0][2] if rows else 0)

    async def _months(self, account: Account, filter: BookmarkFilter) -> list[Facet]:
        """The latest first."""
        preferences = await self._preferences.preferences(account.account_id)
        rows = await self._store.quarters(account, filter)
        return await asyncio.to_thread(_by_month, rows, preferences.time_zone)

    async def _domains(
        self, account: Account, filter: BookmarkFilter, posts: int, limit: int
    ) -> Facets:
        numbers = await self._bookmarks.numbers(account, filter, None)
        # The posts that arrived last.
        newest = list(numbers[-FACET_LINKED_POSTS_MAX:])
        counts: dict[str, int] = {}
        for first in range(0, len(newest), _READ_AT_ONCE):
            some = await self._store.renderings(account, newest[first : first + _READ_AT_ONCE])
            await asyncio.to_thread(counted, some.values(), counts)
        read = len(newest) if len(newest) < len(numbers) else None
        return Facets(_largest(counts)[:limit], posts, len(counts), read)


def _author(rendering: bytes, count: int) -> Facet:
    post = _post(json_depth.cut(rendering + b"}"))
    name = post.author_details.name if post.author_details else None
    return Facet(post.author_username or "", count, name or UNSET)


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
