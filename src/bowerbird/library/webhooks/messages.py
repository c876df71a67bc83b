"""The messages that webhooks send: content, signatures, and which of them a webhook wants.

Messages are signed by the Standard Webhooks rules. Two secrets are valid for a day after one was
replaced, so that no receiver misses a message.

A webhook with a filter is also told when a post leaves it. What a post was like before an event is
not stored. It is as it is now, or as it is in the trash, but for what this and its later events
have changed. What is not known counts as met: a receiver leaves out a post that it does not have,
and cannot know of a message that it did not get.
"""

import asyncio
import base64
import hashlib
import hmac
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct

from bowerbird.clock import MICROSECONDS
from bowerbird.connections.records import Vault
from bowerbird.library.bookmarks.events import Event, Events
from bowerbird.library.bookmarks.searching import post_texts
from bowerbird.library.bookmarks.searching.post_texts import (
    PostTexts,
    addresses_of,
    fields_of,
    texts_of,
)
from bowerbird.model.accounts import Account
from bowerbird.model.events import FORMER_SECRET, TEST, Delivery, DeliveryState, EventType, Webhook
from bowerbird.model.instants import with_offset
from bowerbird.model.labels import name_key
from bowerbird.model.posts.filters import BookmarkFilter
from bowerbird.model.words import ALL, HIGHLIGHT, NOTE, Condition, Either, Field, Part, order_key
from bowerbird.requests.filters import filter_of
from bowerbird.requests.limits import MESSAGE_BYTES_MAX
from bowerbird.requests.views import ViewQuery
from bowerbird.settings import Settings
from bowerbird.storage.bookmarks.filters import handle_of
from bowerbird.storage.database import Database
from bowerbird.storage.stores import Service

PREFIX: Final = "whsec_"
_BYTES: Final = 32


class Secrets(Struct, frozen=True, array_like=True):
    current: str
    # "" if it was never replaced.
    former: str = ""

    def __repr__(self) -> str:
        return "Secrets()"


def new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(_BYTES)).decode()


def replaced(old: Secrets | None) -> Secrets:
    """Another secret. Of the older ones, the last is kept."""
    return Secrets(new_secret(), "" if old is None else old.current)


def headers(
    found: Secrets, hook: Webhook, message_id: str, body: bytes, now: int
) -> dict[str, str]:
    """The three headers of a message, with a signature per valid secret."""
    valid = [found.current]
    if found.former and hook.rotated_at is not None and now < hook.rotated_at + FORMER_SECRET:
        valid.append(found.former)
    seconds = str(now // MICROSECONDS)
    signed = b".".join((message_id.encode(), seconds.encode(), body))
    return {
        "webhook-id": message_id,
        "webhook-timestamp": seconds,
        "webhook-signature": " ".join(_signature(secret, signed) for secret in valid),
    }


def _signature(secret: str, signed: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


def vault_of(settings: Settings) -> Vault[Secrets]:
    """Encrypts as for the access to sources."""
    return Vault(settings, Secrets, "secrets of webhooks")


def place_of(account_id: int, webhook_id: str) -> str:
    return f"{account_id}/webhook/{webhook_id}"


UNREADABLE: Final = "The secret cannot be read on this server any more. Create a new one."
_LATER_EVENTS: Final = 1_000
_encode: Final = msgspec.json.Encoder().encode


def of_event(
    account: Account, hook: Webhook, event: Event, now: int, digest: object = None
) -> Delivery:
    """The message of an event, with its post or digest if that is not too long.

    Its id is the same whenever it is sent, so that a receiver knows what it has already.
    """
    # A restored library has a new epoch, and gives the numbers of its lost events again.
    message_id = f"msg_{account.epoch:x}_{event.id}"
    whole = event if digest is None else {**msgspec.to_builtins(event), "digest": digest}
    body = _body(event.type, event.at, whole)
    if len(body) > MESSAGE_BYTES_MAX:
        body = _body(event.type, event.at, msgspec.structs.replace(event, bookmark=UNSET))
    return _delivery(hook, message_id, event.type, body, now)


def of_test(hook: Webhook, now: int) -> Delivery:
    body = _body(TEST, with_offset(now), {"webhook_id": hook.webhook_id})
    return msgspec.structs.replace(
        _delivery(hook, f"msg_test_{secrets.token_hex(12)}", TEST, body, now),
        state=DeliveryState.WAITING,
    )


def _body(type: str, at: str, data: object) -> bytes:
    return _encode({"type": type, "timestamp": at, "data": data})


def _delivery(hook: Webhook, message_id: str, type: str, body: bytes, now: int) -> Delivery:
    return Delivery(
        webhook_id=hook.webhook_id,
        message_id=message_id,
        type=str(type),
        state=DeliveryState.RETRYING,
        tries=0,
        created_at=now,
        body=body,
    )


def filter_for(tag: str, query: str, now: int) -> BookmarkFilter:
    """What a post must be like. Read and archived posts are too, unless the query says so."""
    asked = ViewQuery(tag=tag or None, q=query or None, hide_archived=False)
    return filter_of(asked, now)


class Matching(Service):
    def __init__(self, database: Database, events: Events) -> None:
        super().__init__(database)
        self._events = events

    async def wanted(
        self, account: Account, hook: Webhook, events: Sequence[Event], now: int
    ) -> Sequence[Event]:
        types = frozenset(hook.events.split())
        found = [one for one in events if _is_of_type(one, types, hook)]
        if not hook.tag and not hook.query:
            return found
        filter = filter_for(hook.tag, hook.query, now)
        keys = label_keys(filter)
        matches_nothing = filter.words is not None and filter.words.is_empty
        posts = {one.post_id for one in events if one.post_id is not UNSET and not matches_nothing}
        matching: set[str] = set()
        left: set[str] = set()
        if posts:
            narrowed = msgspec.structs.replace(filter, post_ids=tuple(posts))
            matching = set(await self._stores.bookmarks.post_ids(account, narrowed))
        if others := posts - matching:
            stored = await self._stored(account, list(others))
            # After the posts, which have what happened meanwhile.
            later = await self._later(account, int(events[-1].id or 0))
            of_others = [one for one in events if one.post_id in others]
            left = await asyncio.to_thread(events_of_leaving, of_others, later, stored, filter)
        return [
            one
            for one in found
            if one.post_id in matching
            or one.type is EventType.POST_SENT
            or one.id in left
            or (one.post_id is UNSET and _is_of_label(one, keys))
        ]

    async def _later(self, account: Account, number: int) -> Sequence[Event] | None:
        """What happened after an event; None if it is too much to read."""
        later, _, has_more = await self._events.after(account, number, _LATER_EVENTS)
        return None if has_more else later

    async def _stored(self, account: Account, post_ids: Sequence[str]) -> dict[str, bytes]:
        """Those that are in the library, or in the trash."""
        trashed = await self._stores.trash.within(self._library(account.account_id), post_ids, 0)
        posts = await self._stores.bookmarks.by_post_ids(account, post_ids)
        return {one.post_id: one.bookmark for one in trashed} | posts


def _is_of_type(event: Event, types: frozenset[str], hook: Webhook) -> bool:
    if event.type is EventType.POST_SENT:
        return event.webhook_id == hook.webhook_id
    return not types or event.type in types


def _is_of_label(event: Event, keys: Collection[str]) -> bool:
    """Whether it happened to one of these labels."""
    return any(name_key(one.label_name) in keys for one in (event.label, event.into) if one)


_GONE: Final = frozenset({EventType.POST_DELETED, EventType.POST_PURGED})
_FLAGS: Final = frozenset(
    {
        EventType.POST_READ,
        EventType.POST_UNREAD,
        EventType.POST_ARCHIVED,
        EventType.POST_UNARCHIVED,
    }
)
_LABELS: Final = frozenset({EventType.POST_LABELLED, EventType.POST_UNLABELLED})
# What an event has changed, besides the keys of labels.
_FLAG: Final = " flag"
_TAGS: Final = " tags"
_TEXT: Final = " text"
_EVERYTHING: Final = frozenset({_FLAG, _TAGS, _TEXT})
# Counts change all the time, and nobody wants a message for it.
_UNIMPORTANT: Final = frozenset({"tweet_details.meta", "updated_at", "imported_at", "sort_index"})


def label_keys(filter: BookmarkFilter) -> set[str]:
    """The labels that a filter asks for."""
    asked = _conditions(filter.words.parts if filter.words is not None else ())
    keys = {one.value for one in asked if one.field is Field.LABEL}
    return keys if filter.tag is None else {*keys, filter.tag}


def events_of_leaving(
    events: Sequence[Event],
    later: Sequence[Event] | None,
    posts: Mapping[str, bytes],
    filter: BookmarkFilter,
) -> set[str]:
    """The numbers of events by which posts may have left a filter that they do not match now.

    `later`: what happened after these events, until the posts were read; None if that is too much.
    `posts` has the JSON of those that are in the library or in the trash.
    """
    found: set[str] = set()
    touched: dict[str, set[str]] = {}
    if later is None:
        touched = {one.post_id: set(_EVERYTHING) for one in events if one.post_id is not UNSET}
    for event in later or ():
        if event.post_id is not UNSET:
            touched.setdefault(event.post_id, set()).update(_changed(event))
    for event in reversed(events):
        if event.post_id is UNSET or event.id is UNSET:
            continue
        changed = touched.setdefault(event.post_id, set())
        changed |= _changed(event)
        post = posts.get(event.post_id)
        if event.type in _GONE:
            is_left = post is None or _may_match(post, changed, filter)
        else:
            is_left = (
                post is not None
                and _asks(filter, _changed(event))
                and (_may_match(post, changed, filter))
            )
        if is_left:
            found.add(event.id)
    return found


def _changed(event: Event) -> set[str]:
    if event.type in _FLAGS:
        return {_FLAG}
    if event.type in _LABELS and event.label is not UNSET:
        return {name_key(event.label.label_name)}
    fields = set(event.fields) if event.fields is not UNSET else set()
    found = {_TAGS} if "tags" in fields else set()
    return found | ({_TEXT} if fields - _UNIMPORTANT - {"tags"} else set())


def _asks(filter: BookmarkFilter, changed: set[str]) -> bool:
    """Whether a filter asks for anything of this."""
    if filter.tag is not None and changed & {filter.tag, _TAGS}:
        return True
    return any(_is_touched(one, changed) for one in _leaves(filter.words))


def _leaves(words: Any) -> Iterator[Part]:
    return _parts(words.parts if words is not None else ())


def _parts(parts: Iterable[Part]) -> Iterator[Part]:
    for part in parts:
        if isinstance(part, Either):
            for branch in part.branches:
                yield from _parts(branch)
        else:
            yield part


def _conditions(parts: Iterable[Part]) -> Iterator[Condition]:
    return (one for one in _parts(parts) if isinstance(one, Condition))


def _is_touched(part: Part, changed: set[str]) -> bool:
    if not isinstance(part, Condition):
        return _TEXT in changed
    if part.field is Field.LABEL:
        return bool(changed & {part.value, _TAGS})
    return (_FLAG if part.is_flag else _TEXT) in changed


def _may_match(stored: bytes, changed: set[str], filter: BookmarkFilter) -> bool:
    """Whether the post may have matched before this was changed."""
    post = texts_of(stored)
    labels = {name_key(tag) for tag in post.tags or ()}
    if filter.tag is not None and not changed & {filter.tag, _TAGS} and filter.tag not in labels:
        return False
    if filter.words is None:
        return True

    def meets(condition: Condition) -> bool:
        known = None if _is_touched(condition, changed) else _known(post, labels, condition)
        return not condition.is_excluded if known is None else known

    parts = filter.words.parts
    if _TEXT in changed:
        # The words that it had are not known.
        parts = tuple(one for one in parts if isinstance(one, Condition))
    text = post_texts.indexed(fields_of(post), (), addresses_of(post))
    return post_texts.matches(text, parts, meets)


def _known(post: PostTexts, labels: set[str], condition: Condition) -> bool | None:
    """Whether a post meets a condition; None if that is not known without its row."""
    match condition.field, condition.value:
        case Field.LABEL, name:
            return name in labels
        case Field.AUTHOR, name:
            is_handle = order_key(post.author_username) == handle_of(name)
            return is_handle or order_key(post.author_details.name) == name
        case Field.HAS, value if value in (NOTE, HIGHLIGHT):
            return bool(post.note if value == NOTE else post.highlights)
        case Field.IS, value if condition.is_flag:
            states = {"read": post.is_read, "unread": not post.is_read, ALL: True}
            return states.get(value, post.is_archived)
    return None
