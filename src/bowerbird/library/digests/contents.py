"""Chooses the posts and topics of a digest.

The same library and the same period give the same digest. Topics need the account's vectors.
"""

import asyncio
import hashlib
import math
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Final
from zoneinfo import ZoneInfo

from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.model.accounts import Account
from bowerbird.model.digests import Contents, digest_id
from bowerbird.model.instants import Period, Span, instant_of
from bowerbird.storage.bookmarks.statistics import StatisticsStore
from bowerbird.storage.database import Database
from bowerbird.storage.upkeep.digests import Candidate, DigestPostStore, DigestStore


class DigestTopics:
    def __init__(self, database: Database, meaning: SemanticSearch) -> None:
        self._posts = DigestPostStore(database)
        self._meaning = meaning

    async def of(self, account: Account, numbers: Sequence[int]) -> Mapping[int, int]:
        """Only posts with a vector have a topic. Empty until the account's vectors are built."""
        store = await self._meaning.serving(account)
        if store is None or not store.dimensions or not numbers:
            return {}
        from bowerbird.search.meaning.vectors import topics  # noqa: PLC0415 - imports numpy

        stored = await self._posts.vectors(account, store.model, numbers)
        return await asyncio.to_thread(topics, stored, store.dimensions, UNREAD_POSTS)


Topics = Callable[[Account, Sequence[int]], Awaitable[Mapping[int, int]]]
"""Maps bookmark numbers to topics. A bookmark without a topic is missing from the result."""

SAVED_POSTS: Final = 7
UNREAD_POSTS: Final = 5
YEAR_AGO_POSTS: Final = 3
_TOP_NAMES: Final = 8
# Candidates per section: enough for variety, few enough to read within milliseconds.
_UNREAD_CANDIDATES: Final = 1_000
_YEAR_AGO_CANDIDATES: Final = 200
_FORGOTTEN_CANDIDATES: Final = 500
_RECENT_DIGESTS: Final = 30
_DAY: Final = 86_400_000_000
_FORGOTTEN_AFTER: Final = 90 * _DAY


class DigestContents:
    def __init__(self, database: Database, topics: Topics | None = None) -> None:
        self._store = DigestPostStore(database)
        self._statistics = StatisticsStore(database)
        self._digests = DigestStore(database)
        self._topics = topics

    async def of(self, account: Account, period: Period, zone: ZoneInfo) -> Contents:
        span = Span(period.start(zone), period.end(zone))
        saved = await self._store.saved(account, span, SAVED_POSTS)
        chosen = {post.post_id for post in saved}
        recent = await self._in_recent_digests(account, period)
        year_ago_count, year_ago = await self._year_ago(account, period, zone)
        chosen |= {post.post_id for post in year_ago}
        unread = await self._unread(account, span.end, chosen, recent)
        chosen |= {post.post_id for post in unread}
        authors, _ = await self._statistics.authors(account, span, _TOP_NAMES)
        return Contents(
            saved_count=await self._store.count(account, span),
            by_label=await self._statistics.labels(account, span, _TOP_NAMES),
            by_author=authors,
            saved=_ids(saved),
            unread_count=account.fresh,
            unread=_ids(unread),
            year_ago_count=year_ago_count,
            year_ago=_ids(year_ago),
            forgotten=await self._forgotten(account, period, span.end, chosen | recent),
        )

    async def _in_recent_digests(self, account: Account, period: Period) -> set[str]:
        """Only earlier periods count, so a digest created late has the same posts as on time."""
        earlier = await self._digests.ended_before(
            account.account_id, period.first_day, _RECENT_DIGESTS
        )
        return {post_id for digest in earlier for post_id in digest.contents.post_ids}

    async def _unread(
        self, account: Account, end: int, excluded: Collection[str], recent: Collection[str]
    ) -> list[Candidate]:
        found = await self._store.newest_unread(account, end, _UNREAD_CANDIDATES)
        candidates = [post for post in found if post.post_id not in excluded]
        # Posts of recent digests only fill the places that new ones leave free.
        new = [post for post in candidates if post.post_id not in recent]
        repeated = [post for post in candidates if post.post_id in recent]
        topics = await self._topics_of(account, candidates)
        chosen = _spread(new, topics, end)[:UNREAD_POSTS]
        return chosen + _spread(repeated, topics, end)[: UNREAD_POSTS - len(chosen)]

    async def _topics_of(
        self, account: Account, posts: Sequence[Candidate]
    ) -> Mapping[int, int | str]:
        """A post without a known topic is grouped by its author instead."""
        by_author: dict[int, int | str] = {post.number: post.author_key for post in posts}
        if self._topics is None:
            return by_author
        return {**by_author, **await self._topics(account, [post.number for post in posts])}

    async def _year_ago(
        self, account: Account, period: Period, zone: ZoneInfo
    ) -> tuple[int, list[Candidate]]:
        first, after = period.a_year_before()
        span = Span(instant_of(first, 0, zone), instant_of(after, 0, zone))
        found = await self._store.saved(account, span, _YEAR_AGO_CANDIDATES)
        if not found:
            return 0, []
        chosen = sorted(found, key=lambda post: _sort_key(post, span.end))[:YEAR_AGO_POSTS]
        return await self._store.count(account, span), chosen

    async def _forgotten(
        self, account: Account, period: Period, end: int, excluded: Collection[str]
    ) -> str | None:
        found = await self._store.oldest_unread(
            account, end - _FORGOTTEN_AFTER, _FORGOTTEN_CANDIDATES
        )
        candidates = [post.post_id for post in found if post.post_id not in excluded]
        # The choice is random, but always the same for the same period.
        return min(
            candidates, key=lambda post_id: _random_key(digest_id(period), post_id), default=None
        )


def score(post: Candidate, end: int) -> float:
    """A month of age costs as much as losing half of the engagement."""
    engagement = (
        post.favorite_count
        + post.reply_count
        + 2 * (post.retweet_count + post.quote_count)
        + 3 * post.bookmark_count
    )
    return math.log2(1 + max(engagement, 0)) - (end - post.bookmarked_at) / (30 * _DAY)


def _spread(
    posts: Sequence[Candidate], topics: Mapping[int, int | str], end: int
) -> list[Candidate]:
    """The best post of each topic first, then the second best of each, and so on."""
    per_topic: dict[int | str, int] = {}
    ranked = []
    for post in sorted(posts, key=lambda post: _sort_key(post, end)):
        topic = topics[post.number]
        ranked.append((per_topic.get(topic, 0), post))
        per_topic[topic] = per_topic.get(topic, 0) + 1
    return [post for _, post in sorted(ranked, key=lambda pair: pair[0])]


def _sort_key(post: Candidate, end: int) -> tuple[float, int]:
    return -score(post, end), -post.number


def _random_key(digest_id: str, post_id: str) -> bytes:
    return hashlib.blake2b(f"{digest_id} {post_id}".encode(), digest_size=8).digest()


def _ids(posts: Sequence[Candidate]) -> list[str]:
    return [post.post_id for post in posts]
