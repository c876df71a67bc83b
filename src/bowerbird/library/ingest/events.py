"""Takes events: the user saved a post at the source, or removed it. The last one of a post wins."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.clock import Clock
from bowerbird.library.imports.intake import Intake, ItemResult
from bowerbird.library.ingest import page_reading
from bowerbird.library.ingest.page_reading import CapturedPage
from bowerbird.library.ingest.removed_posts import RemovedPosts
from bowerbird.library.ingest.runs import USE_NOTED_EVERY, IngestRuns
from bowerbird.model.accounts import Account
from bowerbird.model.bookmarks import ImportRecord, PostDetails
from bowerbird.model.devices import DeviceCaller
from bowerbird.model.ingest import SourceUser
from bowerbird.model.instants import parse, with_offset
from bowerbird.requests.ingest import Event
from bowerbird.sources.found import Completeness, FoundPost, OrderSource
from bowerbird.storage.accounts.devices import DeviceStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.ingest.source_posts import SourcePostStore

# Events have posts of X only.
_X: Final = "x"
_POST: Final = "TweetResultByRestId"


class EventsResult(Struct, frozen=True, kw_only=True):
    received: int
    inserted: int
    updated: int
    unchanged: int
    # Posts that were removed at the source. The account decides what becomes of them here.
    removed: int
    # Events that are older than what is known about their post, such as that it was deleted here.
    stale: int
    # Added posts whose payload could not be read; the library has a link to them.
    unreadable: int


class _Added(Struct, frozen=True):
    post: FoundPost
    is_readable: bool


class IngestEvents:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._posts = SourcePostStore(database)
        self._devices = DeviceStore(database)
        self._runs = IngestRuns(database, clock)
        self._intake = Intake(database, clock)
        self._removed = RemovedPosts(database, clock)

    async def take(self, account: Account, events: Sequence[Event]) -> EventsResult:
        now = self._clock()
        latest = _latest(events, now)
        user = await self._runs.user_of(self._database, account, _X)
        known = await self._posts.changes(account.account_id, user, list(latest))
        fresh = {
            post_id: (at, event)
            for post_id, (at, event) in latest.items()
            if at > known.get(post_id, at - 1)
        }
        added = await asyncio.to_thread(_added, fresh, now)
        results: list[ItemResult] = []
        if added:
            posts = [one.post for one in added]
            # A post that was deleted here after the event stays deleted.
            outcome = await self._intake.take(account, posts, run_id=None)
            results = [result for _, result in outcome.results]
        removed = {post_id: at for post_id, (at, one) in fresh.items() if one.type == "removed"}
        await self._removed.mark(account, user, removed)
        await self._mark(account, user, fresh, now)
        return EventsResult(
            received=len(events),
            inserted=results.count(ItemResult.NEW),
            updated=results.count(ItemResult.CHANGED),
            unchanged=results.count(ItemResult.UNCHANGED),
            removed=len(fresh) - len(added),
            stale=len(events) - len(fresh) + results.count(ItemResult.IGNORED_DELETED),
            unreadable=sum(not one.is_readable for one in added),
        )

    async def _mark(
        self, account: Account, user: SourceUser, fresh: dict[str, tuple[int, Event]], now: int
    ) -> None:
        device_id = account.device_id if isinstance(account, DeviceCaller) else ""

        async def work(transaction: Transaction) -> None:
            for post_id, (at, event) in sorted(fresh.items()):
                is_saved = event.type == "added"
                await self._posts.change(
                    transaction, account.account_id, user, post_id, at=at, is_saved=is_saved
                )
            await self._devices.note_use(
                transaction, account.account_id, device_id, now, USE_NOTED_EVERY
            )

        await self._database.write(work, account.account_id)


def _latest(events: Sequence[Event], now: int) -> dict[str, tuple[int, Event]]:
    latest: dict[str, tuple[int, Event]] = {}
    for event in events:
        # An event from the future would win over every later one.
        at = min(parse(event.at) or now, now)
        if event.post_id not in latest or at >= latest[event.post_id][0]:
            latest[event.post_id] = at, event
    return latest


def _added(fresh: dict[str, tuple[int, Event]], now: int) -> list[_Added]:
    return [_read(event, at, now) for at, event in fresh.values() if event.type == "added"]


def _read(event: Event, at: int, now: int) -> _Added:
    if event.payload is None:
        return _Added(_stub(event.post_id, at), is_readable=True)
    for post in _posts_of(event.payload, now):
        if post.record.post_id == event.post_id:
            saved_at = msgspec.structs.replace(post.record, bookmarked_at=with_offset(at))
            placed = msgspec.structs.replace(
                post, record=saved_at, order_source=OrderSource.SAVED_DATE, is_saved=True
            )
            return _Added(placed, is_readable=True)
    return _Added(_stub(event.post_id, at), is_readable=False)


def _posts_of(payload: Any, now: int) -> Sequence[FoundPost]:
    is_own = isinstance(payload, dict) and "tweet_details" in payload
    raw = payload.encode() if isinstance(payload, str) else msgspec.json.encode(payload)
    page = CapturedPage(
        format="bookmark" if is_own else "x.graphql",
        payload=raw,
        op=_POST,
        request_url="",
        captured_at=now,
    )
    return page_reading.read(page, now).posts


def _stub(post_id: str, at: int) -> FoundPost:
    """A post of which only the id is known. A richer source completes it."""
    record = ImportRecord(
        post_id=post_id,
        tweet_details=PostDetails(link=f"https://x.com/i/status/{post_id}"),
        bookmarked_at=with_offset(at),
    )
    return FoundPost(
        record=record,
        line=1,
        completeness=Completeness.STUB,
        order_source=OrderSource.SAVED_DATE,
        source_id=post_id,
        is_saved=True,
    )
