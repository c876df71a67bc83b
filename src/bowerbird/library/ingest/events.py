"""Takes events: the user saved a post at the source, or removed it. The last one of a post wins."""

import asyncio
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from bowerbird.clock import Clock
from bowerbird.errors import Code, OperationError, Refusal
from bowerbird.library.access import plans, turns
from bowerbird.library.access.turns import DoFirst
from bowerbird.library.bookmarks.writing.label_renames import LabelRenames
from bowerbird.library.imports.intake import Intake, ItemResult, parts
from bowerbird.library.ingest import page_reading
from bowerbird.library.ingest.page_reading import CapturedPage
from bowerbird.library.ingest.removals import RemovedPosts
from bowerbird.library.ingest.runs import IngestRuns
from bowerbird.model.accounts import Account
from bowerbird.model.arrival import Completeness, LeftOutLabels, OrderSource, SourceUser, Summed
from bowerbird.model.instants import parse, with_offset
from bowerbird.model.posts.bookmarks import ImportRecord, PostDetails
from bowerbird.requests.saving import Event
from bowerbird.sources.found import FoundPost
from bowerbird.storage.database import Database, Readable, Reader, Transaction
from bowerbird.storage.stores import TimedService

# Events have posts of X only.
_X: Final = "x"
_POST: Final = "TweetResultByRestId"
_MILLISECOND: Final = 1_000


class LabelsLeftOut(Struct, frozen=True):
    post_id: str
    """The post."""
    labels: list[str]
    """Names of the labels."""
    error: OperationError
    """SUBSCRIPTION_REQUIRED on the free plan, INVALID_REQUEST beyond a bound."""


class EventsResult(Struct, frozen=True, kw_only=True):
    received: int
    """Number of events."""
    inserted: int
    """Posts that are new in the library."""
    updated: int
    """Posts whose text, author, media or labels changed."""
    unchanged: int
    """Posts that the library already has."""
    removed: int
    """Posts that are recorded as removed. The library keeps their content."""
    not_found: int
    """Removed posts that the library does not have."""
    stale: int
    """Events that are older than what is known about their post."""
    unreadable: int
    """Added posts whose payload could not be read. The library has their link."""
    labels_left_out: list[LabelsLeftOut]
    """Labels that added posts did not get. The posts are stored."""


class _Dated(NamedTuple):
    at: int
    event: Event


class _Stored(Summed, frozen=True):
    """What some events did. Older ones are not counted."""

    results: tuple[ItemResult, ...] = ()
    # The ids of removed posts.
    removed: tuple[str, ...] = ()
    labels_left_out: tuple[LabelsLeftOut, ...] = ()

    @property
    def events(self) -> int:
        return len(self.results) + len(self.removed)


class IngestEvents(TimedService):
    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._runs = IngestRuns(database, clock)
        self._intake = Intake(database, clock)
        self._removed = RemovedPosts(database, clock)

    async def take(self, account: Account, events: Sequence[Event]) -> EventsResult:
        now = self._clock()
        user = await self._runs.user_of(self._database, account, _X)
        fresh = await self._fresh(self._database, account, user, _latest(events, now))
        admitted, refused = _admitted(account, fresh)
        added = await asyncio.to_thread(_added, admitted, now)
        removed = {one: dated for one, dated in fresh.items() if dated.event.type == "removed"}
        moments = {one: dated.at for one, dated in removed.items()}
        # A removed post may be in the trash afterwards.
        known = await self._stores.upserts.stored(account, list(moments)) if moments else {}
        await self._removed.mark(account, user, moments)
        stored = await self._store(account, user, removed, []) if removed else _Stored()
        for part in parts([post for post, _ in added]):
            some = {one.record.post_id: fresh[one.record.post_id] for one in part}
            stored += await self._store(account, user, some, part)
        await self._runs.note_use(account)
        results = stored.results
        return EventsResult(
            received=len(events),
            inserted=results.count(ItemResult.NEW),
            updated=results.count(ItemResult.CHANGED),
            unchanged=results.count(ItemResult.UNCHANGED),
            removed=sum(one in known for one in stored.removed),
            not_found=sum(one not in known for one in stored.removed),
            stale=len(events) - stored.events + results.count(ItemResult.IGNORED_DELETED),
            unreadable=sum(not is_readable for _, is_readable in added),
            labels_left_out=[*refused, *stored.labels_left_out],
        )

    async def _fresh(
        self, reader: Reader, account: Account, user: SourceUser, dated: Mapping[str, _Dated]
    ) -> dict[str, _Dated]:
        """The events that are later than what is known about their posts."""
        known = await self._stores.source_posts.seen(
            Readable(reader, account.account_id), user, list(dated)
        )
        return {
            post_id: one
            for post_id, one in dated.items()
            if post_id not in known or one.at > known[post_id].at
        }

    async def _store(
        self,
        account: Account,
        user: SourceUser,
        dated: Mapping[str, _Dated],
        posts: Sequence[FoundPost],
    ) -> _Stored:
        """Takes the posts and marks the events in one transaction, so that copies do nothing."""
        prepared = await self._intake.prepare(account, posts)

        async def prepare_again() -> None:
            """A later event about one of the posts came in between."""
            nonlocal dated, prepared
            dated = await self._fresh(self._database, account, user, dated)
            left = [one for one in posts if one.record.post_id in dated]
            prepared = await self._intake.prepare(account, left)

        async def work(transaction: Transaction) -> _Stored:
            library = await LabelRenames(self._database).lock(transaction, account.account_id)
            if len(await self._fresh(transaction, account, user, dated)) < len(dated):
                raise DoFirst(prepare_again)
            step = await self._intake.take_within(transaction, account, prepared)
            for post_id, (at, event) in sorted(dated.items()):
                is_saved = event.type == "added"
                await self._stores.source_posts.change(
                    library, user, post_id, at=at, is_saved=is_saved
                )
            removed = (one for one, (_, event) in dated.items() if event.type == "removed")
            results = tuple(result for _, result in step.results)
            return _Stored(results, tuple(removed), _left_out(step.labels_left_out))

        return await turns.run(self._database, work, account.account_id)


def _latest(events: Sequence[Event], now: int) -> dict[str, _Dated]:
    """The last event of each post. Of two with the same time, it is the one that was sent last."""
    ordered = sorted(((parse(event.at) or now, event) for event in events), key=itemgetter(0))
    times = _possible([at for at, _ in ordered], now)
    return {event.post_id: _Dated(at, event) for at, (_, event) in zip(times, ordered, strict=True)}


def _possible(times: Sequence[int], now: int) -> list[int]:
    """The ascending times without those in the future, which would win over every later event.

    They keep their order, a millisecond apart.
    """
    possible: list[int] = []
    latest, following = now, None
    for at in reversed(times):
        if at == following:
            possible.append(possible[-1])
            continue
        moved = min(at, latest)
        possible.append(moved)
        latest = moved if moved == at else moved - _MILLISECOND
        following = at
    return possible[::-1]


def _admitted(
    account: Account, fresh: Mapping[str, _Dated]
) -> tuple[Mapping[str, _Dated], list[LabelsLeftOut]]:
    """The events as the plan allows them: a free account cannot write labels."""
    try:
        plans.check_writes(account)
    except Refusal as refused:
        left_out = [
            LabelsLeftOut(post_id, event.labels, OperationError(refused.code, refused.sentence))
            for post_id, (_, event) in fresh.items()
            if event.labels
        ]
        plain = {
            post_id: _Dated(at, msgspec.structs.replace(event, labels=None))
            for post_id, (at, event) in fresh.items()
        }
        return plain, left_out
    return fresh, []


def _left_out(found: Sequence[LeftOutLabels]) -> tuple[LabelsLeftOut, ...]:
    return tuple(
        LabelsLeftOut(
            one.post_id,
            list(one.names),
            OperationError(Code.INVALID_REQUEST, f"Left out: {one.reason}."),
        )
        for one in found
    )


def _added(fresh: Mapping[str, _Dated], now: int) -> list[tuple[FoundPost, bool]]:
    """The posts to take, and whether they could be read."""
    added = []
    for at, event in fresh.values():
        if event.type == "added":
            read = _read(event, at, now)
            post = msgspec.structs.replace(
                read or _stub(event.post_id, at), added_labels=tuple(event.labels or ())
            )
            added.append((post, read is not None or event.payload is None))
    return added


def _read(event: Event, at: int, now: int) -> FoundPost | None:
    """The post in the payload, saved at this time."""
    for post in () if event.payload is None else _posts_of(event.payload, now):
        if post.record.post_id == event.post_id:
            saved_at = msgspec.structs.replace(post.record, bookmarked_at=with_offset(at))
            return msgspec.structs.replace(
                post, record=saved_at, order_source=OrderSource.SAVED_DATE, is_saved=True
            )
    return None


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
    """A post with nothing but its id. A richer source completes it."""
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
