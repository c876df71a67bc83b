"""Chooses what a digest says. The same library and the same period give the same digest."""

import hashlib
import math
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Final
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Struct

from bowerbird.model.accounts import Account
from bowerbird.model.digests import AuthorCount, Contents, LabelCount, digest_id
from bowerbird.model.periods import Period, instant_of
from bowerbird.storage.database import Database
from bowerbird.storage.digests.digest_posts import Candidate, DigestPostStore, Span
from bowerbird.storage.digests.digests import DigestStore

Topics = Callable[[Account, Sequence[int]], Awaitable[Mapping[int, int]]]
"""Which topic each of some bookmarks belongs to, by their numbers; those left out have none."""

SAVED: Final = 7
UNREAD: Final = 5
YEAR_AGO: Final = 3
NAMES: Final = 8
# Out of how many posts are chosen: enough for variety, few enough to be read in milliseconds.
_UNREAD_FROM: Final = 1_000
_YEAR_AGO_FROM: Final = 200
_FORGOTTEN_FROM: Final = 500
_RECENT_DIGESTS: Final = 30
_DAY: Final = 86_400_000_000
_FORGOTTEN_AFTER: Final = 90 * _DAY


class _AuthorDetails(Struct, frozen=True):
    name: str = ""


class _Author(Struct, frozen=True):
    author_username: str = ""
    author_details: _AuthorDetails = _AuthorDetails()


_author: Final = msgspec.json.Decoder(_Author).decode


class DigestContents:
    def __init__(self, database: Database, topics: Topics | None = None) -> None:
        self._store = DigestPostStore(database)
        self._digests = DigestStore(database)
        self._topics = topics

    async def of(self, account: Account, period: Period, zone: ZoneInfo) -> Contents:
        span = Span(period.start(zone), period.end(zone))
        saved = await self._store.saved(account, span, SAVED)
        seen = {post.post_id for post in saved}
        recently = await self._shown_recently(account, period)
        year_ago_count, year_ago = await self._year_ago(account, period, zone)
        seen |= {post.post_id for post in year_ago}
        unread = await self._unread(account, span.end, seen, recently)
        seen |= {post.post_id for post in unread}
        return Contents(
            saved_count=await self._store.count(account, span),
            by_label=await self._labels(account, span),
            by_author=await self._authors(account, span),
            saved=_ids(saved),
            unread_count=account.fresh,
            unread=_ids(unread),
            year_ago_count=year_ago_count,
            year_ago=_ids(year_ago),
            forgotten=await self._forgotten(account, period, span.end, seen | recently),
        )

    async def _shown_recently(self, account: Account, period: Period) -> set[str]:
        """Of earlier periods only: a digest that is made late says what it would have said."""
        earlier = await self._digests.ended_before(
            account.account_id, period.first_day, _RECENT_DIGESTS
        )
        return {post_id for digest in earlier for post_id in digest.contents.post_ids}

    async def _labels(self, account: Account, span: Span) -> list[LabelCount]:
        return [LabelCount(*row) for row in await self._store.labels(account, span, NAMES)]

    async def _authors(self, account: Account, span: Span) -> list[AuthorCount]:
        found = []
        for post, count in await self._store.authors(account, span, NAMES):
            author = _author(post)
            found.append(AuthorCount(author.author_username, author.author_details.name, count))
        return found

    async def _unread(
        self, account: Account, end: int, seen: Collection[str], recently: Collection[str]
    ) -> list[Candidate]:
        found = await self._store.newest_unread(account, end, _UNREAD_FROM)
        others = [post for post in found if post.post_id not in seen]
        # What was shown of late gives way, and comes back when there is nothing else.
        fresh = [post for post in others if post.post_id not in recently]
        shown = [post for post in others if post.post_id in recently]
        topics = await self._topics_of(account, others)
        chosen = _spread(fresh, topics, end)[:UNREAD]
        return chosen + _spread(shown, topics, end)[: UNREAD - len(chosen)]

    async def _topics_of(
        self, account: Account, posts: Sequence[Candidate]
    ) -> Mapping[int, int | str]:
        """Where nothing is known of topics, an author stands for one."""
        by_author: dict[int, int | str] = {post.number: post.author_key for post in posts}
        if self._topics is None:
            return by_author
        return {**by_author, **await self._topics(account, [post.number for post in posts])}

    async def _year_ago(
        self, account: Account, period: Period, zone: ZoneInfo
    ) -> tuple[int, list[Candidate]]:
        first, after = period.a_year_before()
        span = Span(instant_of(first, 0, zone), instant_of(after, 0, zone))
        found = await self._store.saved(account, span, _YEAR_AGO_FROM)
        if not found:
            return 0, []
        chosen = sorted(found, key=lambda post: _order(post, span.end))[:YEAR_AGO]
        return await self._store.count(account, span), chosen

    async def _forgotten(
        self, account: Account, period: Period, end: int, seen: Collection[str]
    ) -> str | None:
        found = await self._store.oldest_unread(account, end - _FORGOTTEN_AFTER, _FORGOTTEN_FROM)
        unseen = [post.post_id for post in found if post.post_id not in seen]
        # Drawn by lot, but the same lot whenever this period is asked for.
        return min(unseen, key=lambda post_id: _lot(digest_id(period), post_id), default=None)


def worth(post: Candidate, end: int) -> float:
    """A month of age weighs as much as half of what others made of a post."""
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
    """The best of each topic first, then the second of each, and so on."""
    taken: dict[int | str, int] = {}
    placed = []
    for post in sorted(posts, key=lambda post: _order(post, end)):
        topic = topics[post.number]
        placed.append((taken.get(topic, 0), post))
        taken[topic] = taken.get(topic, 0) + 1
    return [post for _, post in sorted(placed, key=lambda pair: pair[0])]


def _order(post: Candidate, end: int) -> tuple[float, int]:
    return -worth(post, end), -post.number


def _lot(name: str, post_id: str) -> bytes:
    return hashlib.blake2b(f"{name} {post_id}".encode(), digest_size=8).digest()


def _ids(posts: Sequence[Candidate]) -> list[str]:
    return [post.post_id for post in posts]
