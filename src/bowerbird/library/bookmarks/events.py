"""What happened to a library, in order, so that a program can keep a copy of it.

A program without a cursor first gets every post that is there, and then what has happened since it
began. Events are numbered in the order of commits: each is logged by the transaction that makes the
change, which holds the lock of the library until it commits. So no event appears before another one
that a reader has already seen.
"""

from collections.abc import Iterator, Sequence
from typing import Final, cast

import msgspec
from msgspec import UNSET, Struct, UnsetType

from bowerbird import errors
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import plans
from bowerbird.library.bookmarks import cursors
from bowerbird.library.bookmarks.cursors import Followed
from bowerbird.model.accounts import Account
from bowerbird.model.events import EventLabel, EventType, Happening
from bowerbird.model.instants import with_offset
from bowerbird.model.posts.bookmarks import Bookmark
from bowerbird.requests.bookmarks import EventsQuery
from bowerbird.requests.fields import gates_for
from bowerbird.requests.limits import EVENT_DAYS, EVENTS_MAX, PAGE_DEFAULT
from bowerbird.storage.changes.events import Kept, Logged
from bowerbird.storage.stores import TimedService

NOW: Final = "now"


class LabelName(Struct, frozen=True):
    id: str
    """Identifier of the label."""
    label_name: str
    """Its name at that time."""


class Event(Struct, frozen=True, kw_only=True):
    """Something that happened to the library. Ignore types that you do not know."""

    type: EventType
    """What happened. post.listed is a post that was there when the full listing came to it."""
    at: str
    """When it happened."""
    id: str | UnsetType = UNSET
    """Number of the event: a later one has a higher number. Absent for post.listed."""
    post_id: str | UnsetType = UNSET
    """The post; absent if it happened to a label, a view or a digest."""
    fields: Sequence[str] | UnsetType = UNSET
    """Of a change: the names of the fields that were changed."""
    label: LabelName | UnsetType = UNSET
    """The label that it happened to, or that the post got or lost."""
    former_name: str | UnsetType = UNSET
    """Of a renamed label: its name before."""
    into: LabelName | UnsetType = UNSET
    """Of a merged label: the label that its posts have now."""
    view_slug: str | UnsetType = UNSET
    """The Smart View that it happened to."""
    webhook_id: str | UnsetType = UNSET
    """The webhook that a rule sent the post to."""
    digest_id: str | UnsetType = UNSET
    """The digest that was created. A message to a webhook also has its content, as `digest`."""
    bookmark: Bookmark | UnsetType | None = UNSET
    """The post as it is now; null if it is not in the library any more. Absent with ids_only."""


class EventPage(Struct, frozen=True):
    events: Sequence[Event]
    next_cursor: str
    has_more: bool
    limit: int


class Events(TimedService):
    async def page(self, account: Account, query: EventsQuery) -> EventPage:
        plans.check_fields(account, gates_for(EventsQuery, ["cursor"] if query.cursor else ()))
        limit, sent = query.limit or PAGE_DEFAULT, query.cursor
        bound_to = cursors.query_of(account.account_id, "changes")
        if sent == NOW or not sent:
            last = (await self.kept(account)).last
            start = Followed(account.epoch, last, None if sent else 0)
            if sent:
                return EventPage([], cursors.write(start, bound_to), has_more=False, limit=limit)
        else:
            start = cursors.read_as(Followed, sent, bound_to)
        if start.epoch != account.epoch:
            raise _expired("the library was restored from a backup since")
        events, end, has_more = (
            await self._logged(account, start.number, limit)
            if start.listed is None
            else await self._listed(account, start, start.listed, limit)
        )
        if not query.ids_only:
            events = await self._with_bookmarks(account, events)
        return EventPage(events, cursors.write(end, bound_to), has_more=has_more, limit=limit)

    async def after(
        self, account: Account, number: int, limit: int
    ) -> tuple[Sequence[Event], int, bool]:
        """The events after a number, the last number, and whether more follow."""
        events, end, has_more = await self._logged(account, number, limit)
        return events, end.number, has_more

    async def with_bookmark(self, account: Account, event: Event) -> Event:
        return (await self._with_bookmarks(account, [event]))[0]

    async def kept(self, account: Account) -> Kept:
        """The number of the last event, and of the last one that is no longer kept."""
        kept = await self._stores.events.kept(self._library(account.account_id))
        if kept is None:
            raise errors.account_gone()
        return kept

    async def _logged(
        self, account: Account, number: int, limit: int
    ) -> tuple[Sequence[Event], Followed, bool]:
        logged, has_more = await self._stores.events.after(account.account_id, number, limit)
        # Read after the events: what is removed meanwhile is not missed.
        kept = await self.kept(account)
        if not kept.removed <= number <= kept.last:
            raise _expired("what happened after it is no longer kept")
        events = [event for one in logged for place, event in _events(one) if place > number][
            :limit
        ]
        return events, Followed(account.epoch, number + len(events)), has_more

    async def _listed(
        self, account: Account, start: Followed, after: int, limit: int
    ) -> tuple[Sequence[Event], Followed, bool]:
        """The next posts of the library. What happens meanwhile is logged after `start`."""
        posts = await self._stores.events.posts_after(account.account_id, after, limit)
        now = with_offset(self._clock())
        events = [Event(type=EventType.POST_LISTED, at=now, post_id=one) for one in posts.values()]
        listed = max(posts) if len(posts) == limit else None
        return events, msgspec.structs.replace(start, listed=listed), True

    async def _with_bookmarks(self, account: Account, events: Sequence[Event]) -> Sequence[Event]:
        ids = {event.post_id for event in events if event.post_id is not UNSET}
        found = await self._stores.bookmarks.by_post_ids(account, list(ids)) if ids else {}
        return [
            event
            if event.post_id is UNSET
            else msgspec.structs.replace(event, bookmark=_raw(found.get(event.post_id)))
            for event in events
        ]


def _events(logged: Logged) -> Iterator[tuple[int, Event]]:
    number, at = logged.last - logged.size, with_offset(logged.at)
    for one in logged.happened:
        for post_id in one.post_ids or (UNSET,):
            number += 1
            yield number, _event(one, number, at, post_id)


def _event(one: Happening, number: int, at: str, post_id: str | UnsetType) -> Event:
    return Event(
        type=one.type,
        at=at,
        id=str(number),
        post_id=post_id,
        fields=one.fields or UNSET,
        label=_label(one.label),
        former_name=one.former_name or UNSET,
        into=_label(one.into),
        view_slug=one.view or UNSET,
        webhook_id=one.webhook or UNSET,
        digest_id=one.digest or UNSET,
    )


def _label(label: EventLabel | None) -> LabelName | UnsetType:
    return UNSET if label is None else LabelName(str(label.label_id), label.name)


def _raw(bookmark: bytes | None) -> Bookmark | None:
    """A post is stored as JSON, which is passed on as it is."""
    return None if bookmark is None else cast("Bookmark", msgspec.Raw(bookmark))


def _expired(why: str) -> Refusal:
    return Refusal(
        Code.CURSOR_EXPIRED,
        f"cursor: {why}. Changes are kept for {EVENT_DAYS} days, at most the last {EVENTS_MAX:,}. "
        "Call without a cursor to get every post again, and drop the posts of your copy that are "
        "not listed.",
    )
