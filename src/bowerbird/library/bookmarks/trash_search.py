"""Finds posts in the trash: by author, label, words, and when they were deleted."""

import asyncio
from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import Clock
from bowerbird.library.access.time_zones import TimeZones
from bowerbird.library.bookmarks.searching import text_matching
from bowerbird.library.bookmarks.searching.highlighting import addresses_of, fields_of
from bowerbird.library.bookmarks.writing.trash_batch import KEPT
from bowerbird.model import json_depth
from bowerbird.model.accounts import Account
from bowerbird.model.labels import name_key
from bowerbird.model.posts.filters import Names, TrashFilter
from bowerbird.model.words import TRASH, Condition, Field, order_key
from bowerbird.requests.bookmarks import TrashQuery
from bowerbird.requests.bulk import TRASH_FILTERS, ChangeFilters
from bowerbird.requests.fields import InvalidField
from bowerbird.requests.filter_values import bound_of, read_author, read_labels
from bowerbird.requests.limits import TRASH_SEARCHED_MAX
from bowerbird.search.queries import query_language
from bowerbird.storage.bookmarks.filters import handle_of
from bowerbird.storage.bookmarks.trash import Trashed, TrashStore
from bowerbird.storage.database import Database

LATEST: Final = (2**63 - 1, "")
_READ_TOGETHER: Final = 200
_IN_QUERIES: Final = (Field.AUTHOR, Field.LABEL)
# Which every post here is.
_IN_TRASH: Final = (Field.IS, TRASH)


class Found(Struct, frozen=True):
    """A post in the trash, without its content."""

    trashed_at: int
    post_id: str


class _Author(Struct, frozen=True):
    name: str = ""


class _Names(Struct, frozen=True):
    author_username: str = ""
    author_details: _Author = _Author()
    tags: tuple[str, ...] | None = None


_names: Final = msgspec.json.Decoder(_Names).decode


class TrashSearch:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._store = TrashStore(database)
        self._zones = TimeZones(database)
        self._clock = clock

    async def filter(
        self, account: Account, asked: TrashQuery | ChangeFilters
    ) -> TrashFilter | None:
        """None if nothing narrows the trash."""
        if not any(getattr(asked, name) for name in TRASH_FILTERS):
            return None
        dates = asked.deleted_from or asked.deleted_to
        zone = await self._zones.zone(account) if dates else None
        now = self._clock()
        try:
            label = asked.label or asked.tag
            filter = TrashFilter(
                author=read_author("author", asked.author) if asked.author else None,
                labels=read_labels("label", label) if label else None,
                words=query_language.parse(asked.q, now) if asked.q else None,
                deleted_from=bound_of("deleted_from", asked.deleted_from, now, zone)
                if asked.deleted_from
                else None,
                deleted_to=bound_of("deleted_to", asked.deleted_to, now, zone)
                if asked.deleted_to
                else None,
            )
        except InvalidField as invalid:
            raise errors.invalid(invalid.field, invalid.problem) from None
        if filter.words is not None:
            for one in filter.words.conditions:
                if one.field not in _IN_QUERIES and (one.field, one.value) != _IN_TRASH:
                    problem = (
                        f"{one.field}: cannot be searched in the trash; author: and label: can"
                    )
                    raise errors.invalid("q", problem)
        return filter

    async def found(self, account: Account, filter: TrashFilter) -> list[Found]:
        """Those of the latest posts in the trash that match, the latest first."""
        oldest = self._clock() - KEPT
        if filter.deleted_from is not None:
            oldest = max(oldest, filter.deleted_from + 1)
        place = LATEST if filter.deleted_to is None else (filter.deleted_to, "")
        found: list[Found] = []
        for _ in range(0, TRASH_SEARCHED_MAX, _READ_TOGETHER):
            some = await self._store.page(account.account_id, oldest, place, _READ_TOGETHER)
            found += await asyncio.to_thread(_matching, some, filter)
            if len(some) < _READ_TOGETHER:
                break
            place = (some[-1].trashed_at, some[-1].post_id)
        return found


def _matching(some: Sequence[Trashed], filter: TrashFilter) -> list[Found]:
    return [Found(one.trashed_at, one.post_id) for one in some if _matches(one, filter)]


def _matches(one: Trashed, filter: TrashFilter) -> bool:
    post = _names(json_depth.cut(one.bookmark))
    if filter.author is not None and not _is_by(post, filter.author):
        return False
    if filter.labels is not None and not _labelled(post, filter.labels.either):
        return False
    if filter.words is None:
        return True

    def meets(condition: Condition) -> bool:
        if condition.field is Field.AUTHOR:
            return _is_by(post, condition.value)
        if condition.field is Field.IS:
            return True
        return _labelled(post, (condition.value,))

    text = text_matching.indexed(
        fields_of(one.bookmark), post.tags or (), addresses_of(one.bookmark)
    )
    return text_matching.matches(text, filter.words.parts, meets)


def _is_by(post: _Names, author: str | Names) -> bool:
    names = (author,) if isinstance(author, str) else author.either
    handles = {handle_of(name) for name in names}
    is_handle = order_key(post.author_username) in handles
    return is_handle or order_key(post.author_details.name) in names


def _labelled(post: _Names, names: Sequence[str]) -> bool:
    keys = {name_key(tag) for tag in post.tags or ()}
    return any(name in keys for name in names)
