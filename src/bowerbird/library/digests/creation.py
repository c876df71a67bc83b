"""Creates digests when they are due, and chooses their posts and topics.

The same library and the same period give the same digest. Topics need the account's vectors.
"""

import asyncio
import hashlib
import math
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Final
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Struct

from bowerbird.clock import MICROSECONDS, Clock, month_of
from bowerbird.introductions import Introductions
from bowerbird.library.bookmarks.annotated_posts import AnnotatedPosts
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.digests.responses import to_response
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.model.accounts import Account
from bowerbird.model.digests import Contents, Digest, Mailing, MailState, Preferences, digest_id
from bowerbird.model.events import EventType, Happening
from bowerbird.model.instants import Period, Span, instant_of, latest_due, zone_of
from bowerbird.storage.database import Database, Writable
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.stores import Service, TimedService
from bowerbird.storage.upkeep.digests import NEVER, Candidate, DigestStore


class DigestTopics(Service):
    def __init__(self, database: Database, meaning: SemanticSearch) -> None:
        super().__init__(database)
        self._meaning = meaning

    async def of(self, account: Account, numbers: Sequence[int]) -> Mapping[int, int]:
        """Only posts with a vector have a topic. Empty until the account's vectors are built."""
        store = await self._meaning.serving(account)
        if store is None or not store.dimensions or not numbers:
            return {}
        from bowerbird.search.meaning.vectors import topics  # noqa: PLC0415 - imports numpy

        stored = await self._stores.digest_posts.vectors(account, store.model, numbers)
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


class DigestContents(Service):
    def __init__(self, database: Database, topics: Topics | None = None) -> None:
        super().__init__(database)
        self._topics = topics

    async def of(self, account: Account, period: Period, zone: ZoneInfo) -> Contents:
        span = Span(period.start(zone), period.end(zone))
        saved = await self._stores.digest_posts.saved(account, span, SAVED_POSTS)
        chosen = {post.post_id for post in saved}
        recent = await self._in_recent_digests(account, period)
        year_ago_count, year_ago = await self._year_ago(account, period, zone)
        chosen |= {post.post_id for post in year_ago}
        unread = await self._unread(account, span.end, chosen, recent)
        chosen |= {post.post_id for post in unread}
        authors, _ = await self._stores.statistics.authors(account, span, _TOP_NAMES)
        return Contents(
            saved_count=await self._stores.digest_posts.count(account, span),
            by_label=await self._stores.statistics.labels(account, span, _TOP_NAMES),
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
        earlier = await self._stores.digests.ended_before(
            account.account_id, period.first_day, _RECENT_DIGESTS
        )
        return {post_id for digest in earlier for post_id in digest.contents.post_ids}

    async def _unread(
        self, account: Account, end: int, excluded: Collection[str], recent: Collection[str]
    ) -> list[Candidate]:
        found = await self._stores.digest_posts.newest_unread(account, end, _UNREAD_CANDIDATES)
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
        found = await self._stores.digest_posts.saved(account, span, _YEAR_AGO_CANDIDATES)
        if not found:
            return 0, []
        chosen = sorted(found, key=lambda post: _sort_key(post, span.end))[:YEAR_AGO_POSTS]
        return await self._stores.digest_posts.count(account, span), chosen

    async def _forgotten(
        self, account: Account, period: Period, end: int, excluded: Collection[str]
    ) -> str | None:
        found = await self._stores.digest_posts.oldest_unread(
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


UNCLEAR_AFTER = 3_600 * MICROSECONDS
"""A worker that has been sending an email for this long has stopped."""


def due_period(preferences: Preferences, now: int) -> Period | None:
    """The latest period whose digest is due and not yet handled. Older periods are skipped."""
    if preferences.kind is None:
        return None
    zone = zone_of(preferences.time_zone)
    period = latest_due(preferences.kind, zone, preferences.hour, now)
    return period if period.due(zone, preferences.hour) >= preferences.since else None


def next_due(preferences: Preferences, now: int) -> int:
    """When the next digest is created."""
    if preferences.kind is None:
        return NEVER
    zone = zone_of(preferences.time_zone)
    following = latest_due(preferences.kind, zone, preferences.hour, now).following(zone)
    return following.due(zone, preferences.hour)


def email_due_at(digest: Digest) -> int:
    """When a worker must send a pending email, or check one that is being sent."""
    at = digest.mailing.at
    return at + UNCLEAR_AFTER if digest.mailing.state is MailState.SENDING else at


async def reschedule(store: DigestStore, library: Writable, now: int) -> None:
    """Stores when a worker must handle the account again."""
    preferences = await store.preferences(library.account_id, library.transaction)
    pending = await store.unsent(library)
    due = next_due(preferences, now) if due_period(preferences, now) is None else now
    await store.set_due(library, min([due, *map(email_due_at, pending)]))


class DigestCreation(TimedService):
    def __init__(
        self,
        database: Database,
        clock: Clock,
        *,
        can_mail: bool = False,
        introductions: Introductions | None = None,
        topics: Topics | None = None,
    ) -> None:
        super().__init__(database, clock)
        self._can_mail = can_mail
        self._introductions = introductions
        self._contents = DigestContents(database, topics)
        bookmarks = Bookmarks(database, SemanticSearch(database), clock)
        self._annotated = AnnotatedPosts(database, bookmarks)

    async def create_due(self, account_id: int) -> None:
        """Creates the latest due digest if it is missing, and stores when the next one is due."""
        now = self._clock()
        account = await self._stores.accounts.by_id(account_id, month_of(now))
        if account is None:
            return
        preferences = await self._stores.digests.preferences(account_id)
        period = due_period(preferences, now)
        existing = new = None
        if period is not None:
            existing = await self._stores.digests.by_period(self._library(account_id), period)
            new = existing or await self._digest(account, period, preferences)

        async def work(library: LockedLibrary) -> None:
            # If the preferences changed since they were read, the next job applies the new ones.
            if (
                await self._stores.digests.preferences(account_id, library.transaction)
                == preferences
            ):
                if existing is not None:
                    await self._queue_email(library, existing, preferences)
                elif new is not None:
                    await self._put_due(library, new, preferences)
                await self._stores.digests.settle(library, now + 1)
            await reschedule(self._stores.digests, library, now)

        await self._locked(account_id, work, is_service=True)

    async def create(self, account: Account, period: Period) -> Digest | None:
        """The digest of a past period, created if it is missing; None if it would be empty.

        It is not emailed, and the account's schedule does not change.
        """
        existing = await self._stores.digests.by_period(self._library(account.account_id), period)
        if existing is not None:
            return existing
        preferences = await self._stores.digests.preferences(account.account_id)
        without_email = msgspec.structs.replace(preferences, is_mailed=False)
        new = await self._digest(account, period, without_email)
        if new is None:
            return None

        async def work(library: LockedLibrary) -> Digest | None:
            await self._put(library, new)
            return await self._stores.digests.by_period(library, period)

        return await self._locked(account.account_id, work, is_service=True)

    async def _digest(
        self, account: Account, period: Period, preferences: Preferences
    ) -> Digest | None:
        """None if the digest would be empty."""
        contents = await self._contents.of(account, period, zone_of(preferences.time_zone))
        if preferences.has_highlight:
            contents = await self._with_highlight(account, contents, period)
        if contents.is_empty:
            return None
        now, zone = self._clock(), preferences.time_zone
        mailing = self._mailing(preferences)
        digest = Digest(period.kind, period.first_day, zone, now, contents, mailing)
        return await self._with_introduction(account, digest)

    async def _with_highlight(
        self, account: Account, contents: Contents, period: Period
    ) -> Contents:
        """The note or highlight that the website shows on the day on which the digest is due."""
        found, chosen = await self._annotated.of_day(account, period.next_day)
        if not found:
            return contents
        with_one: Contents = msgspec.structs.replace(
            contents, highlight=_post_id(found).post_id, passage=chosen
        )
        return with_one

    def _mailing(self, preferences: Preferences) -> Mailing:
        if not (preferences.is_mailed and self._can_mail):
            return Mailing()
        return Mailing(MailState.WAITING, at=self._clock())

    async def _with_introduction(self, account: Account, digest: Digest) -> Digest:
        if self._introductions is None or not self._introductions.is_ready:
            return digest
        posts = await self._stores.digest_posts.posts(account, digest.contents.post_ids)
        introduction = await self._introductions.write(_introduction_input(digest, posts))
        contents: Contents = msgspec.structs.replace(digest.contents, introduction=introduction)
        introduced: Digest = msgspec.structs.replace(digest, contents=contents)
        return introduced

    async def _queue_email(
        self, library: Writable, digest: Digest, preferences: Preferences
    ) -> None:
        """Queues the email of a digest that was created by hand before it was due."""
        mailing = self._mailing(preferences)
        if digest.mailing == Mailing() != mailing:
            await self._stores.digests.set_mailing(library, digest, mailing)
            await self._stores.libraries.touch(library)

    async def _put_due(self, library: Writable, digest: Digest, preferences: Preferences) -> None:
        if await self._put(library, digest):
            return
        # Another process was faster. If the digest was created by hand, its email is not queued.
        other = await self._stores.digests.by_period(library, digest.period)
        if other is not None:
            await self._queue_email(library, other, preferences)

    async def _put(self, library: Writable, digest: Digest) -> bool:
        """False if the period already has a digest."""
        if not await self._stores.digests.put(library, digest):
            return False
        # Responses are cached by the library's version, and the list of digests has changed.
        happened = [Happening(EventType.DIGEST_CREATED, digest=digest.digest_id)]
        await self._stores.libraries.touch(library, happened, self._clock())
        return True


class _Identified(Struct):
    post_id: str


_post_id = msgspec.json.Decoder(_Identified).decode


def _introduction_input(digest: Digest, posts: dict[str, bytes]) -> dict[str, Any]:
    """What the language model may see: authors, titles and texts of posts, nothing else."""
    response = to_response(digest, posts)

    def summaries(part: Any) -> list[dict[str, Any]]:
        return [
            {"author": post.author_name, "title": post.title, "text": post.text}
            for post in part.posts
        ]

    return {
        "saved_posts": summaries(response.saved),
        "unread_posts": summaries(response.unread),
    }
