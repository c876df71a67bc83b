"""The events by which a post leaves the filter of a webhook, or the library.

What a post was like before an event is not stored. It is as it is now, or as it is in the trash,
but for what this and its later events have changed. What is not known counts as met: a receiver
leaves out a post that it does not have, and cannot know of a message that it did not get.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct

from bowerbird.library.bookmarks.events import Event
from bowerbird.library.bookmarks.searching import text_matching
from bowerbird.library.bookmarks.searching.highlighting import addresses_of, fields_of
from bowerbird.model import json_depth
from bowerbird.model.events import EventType
from bowerbird.model.labels import name_key
from bowerbird.model.posts.filters import BookmarkFilter
from bowerbird.model.words import ALL, HIGHLIGHT, NOTE, Condition, Either, Field, Part, order_key
from bowerbird.storage.bookmarks.filters import handle_of

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


class _Author(Struct, frozen=True):
    name: str = ""


class _Stored(Struct, frozen=True):
    author_username: str = ""
    author_details: _Author = _Author()
    tags: tuple[str, ...] | None = None
    is_read: bool = False
    is_archived: bool = False
    note: str | None = None
    highlights: list[Any] | None = None


_stored: Final = msgspec.json.Decoder(_Stored).decode


def label_keys(filter: BookmarkFilter) -> set[str]:
    """The labels that a filter asks for."""
    asked = _conditions(filter.words.parts if filter.words is not None else ())
    keys = {one.value for one in asked if one.field is Field.LABEL}
    return keys if filter.tag is None else {*keys, filter.tag}


def left(
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
    post = _stored(json_depth.cut(stored))
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
    text = text_matching.indexed(fields_of(stored), (), addresses_of(stored))
    return text_matching.matches(text, parts, meets)


def _known(post: _Stored, labels: set[str], condition: Condition) -> bool | None:
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
