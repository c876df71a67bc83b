"""Deletes bookmarks, restores them within 30 days, finds them, and deletes them for good."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Final, cast

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import Clock
from bowerbird.library.access import activity, plans
from bowerbird.library.bookmarks import cursors
from bowerbird.library.bookmarks.cursors import Named
from bowerbird.library.bookmarks.searching import post_texts
from bowerbird.library.bookmarks.searching.post_texts import (
    PostTexts,
    addresses_of,
    fields_of,
    texts_of,
)
from bowerbird.library.bookmarks.writing.changeset import Changeset
from bowerbird.library.bookmarks.writing.kept_changes import Done, KeptChanges
from bowerbird.library.bookmarks.writing.label_renames import LabelRenames
from bowerbird.library.bookmarks.writing.trash_batch import KEPT, Purging, TrashBatches
from bowerbird.model.accounts import Account, ActivityKind
from bowerbird.model.bulk import BulkAction, BulkRow, Changed, PostField
from bowerbird.model.instants import with_offset
from bowerbird.model.labels import name_key
from bowerbird.model.posts.bookmarks import Bookmark
from bowerbird.model.posts.filters import Names, TrashFilter
from bowerbird.model.words import TRASH, Condition, Field, order_key
from bowerbird.requests.bookmarks import TrashQuery
from bowerbird.requests.bulk import TRASH_FILTERS, ChangeFilters
from bowerbird.requests.fields import InvalidField, gates_for
from bowerbird.requests.filter_values import bound_of, read_author, read_labels
from bowerbird.requests.limits import PAGE_DEFAULT, TRASH_SEARCHED_MAX
from bowerbird.search.queries import query_language
from bowerbird.storage.bookmarks.filters import handle_of
from bowerbird.storage.bookmarks.trash import Trashed
from bowerbird.storage.database import Database, Transaction, Writable
from bowerbird.storage.stores import TimedService


class Deleted(Struct, frozen=True):
    post_id: str
    restorable_until: str
    """The bookmark can be restored until then."""


class Trash(TimedService):
    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._batches = TrashBatches(database, clock)
        self._kept = KeptChanges(database, clock)

    async def delete(
        self,
        transaction: Transaction,
        account: Account,
        post_id: str,
        removed_at: int | None = None,
    ) -> tuple[Deleted, BulkRow | None]:
        """Moves a bookmark to the trash, and keeps the change for its undo.

        `removed_at` is when its source removed it. Saved again after that, it comes back. Nobody
        has asked for that change, so it is not kept.
        """
        library = await LabelRenames(self._database).lock(transaction, account.account_id)
        is_kept = removed_at is None
        changeset = await Changeset.open(self._database, library, is_recorded=is_kept)
        await changeset.load([post_id])
        post = changeset.post(post_id)
        if post is None:
            raise errors.not_found("post", post_id)
        await self._batches.put(changeset, [post], since=removed_at)
        change, now = None, self._clock()
        if is_kept:
            change = await self._kept.finish(changeset, BulkAction.TRASH, 1)
        else:
            await changeset.finish(now)
        entry = activity.entry(self._clock, ActivityKind.POSTS_DELETED, post_id)
        await self._stores.activity.add(library, entry)
        return Deleted(post_id, with_offset(now + KEPT)), change

    async def restore(
        self, transaction: Transaction, account: Account, post_id: str
    ) -> tuple[bytes, BulkRow | None]:
        """Restores a bookmark to its old position; returns its JSON, and the change."""
        # Locked before the trash is read, in the same order as for a deletion.
        library = await LabelRenames(self._database).lock(transaction, account.account_id)
        taken = await self._batches.take(library, [post_id])
        if not taken:
            raise errors.not_found("deleted post", post_id)
        kept = msgspec.json.encode(taken[post_id])
        moved = [Changed(post_id, PostField.TRASHED, was_set=True, kept=kept)]
        change = await self._kept.keep(library, Done(BulkAction.RESTORE, moved))
        found = await self._stores.bookmarks.by_post_id_within(transaction, account, post_id)
        assert found is not None
        return found, change


_ALL: Final = TrashQuery()
_DELETED_PER_TURN: Final = 100
_LAST: Final = 2**63 - 1
_DIGITS: Final = 18


class TrashedPost(Struct, frozen=True):
    post_id: str
    # As JSON.
    bookmark: bytes
    trashed_at: int
    # When it is deleted for good.
    kept_until: int


class TrashPage(Struct, frozen=True):
    posts: Sequence[TrashedPost]
    total_count: int
    next_cursor: str | None
    limit: int


class TrashedBookmark(Struct, frozen=True, kw_only=True):
    """A bookmark in the trash."""

    bookmark: Bookmark
    """The bookmark as it was when it was deleted."""
    deleted_at: str
    """When it was deleted: ISO 8601 with an offset."""
    restorable_until: str
    """Until when it can be restored. Then it is deleted for good."""


def shown(one: TrashedPost) -> TrashedBookmark:
    bookmark = one.bookmark
    if _UPDATED not in bookmark:
        # An earlier release put it there.
        bookmark = b'%b%b"%b"}' % (bookmark[:-1], _UPDATED, with_offset(one.trashed_at).encode())
    return TrashedBookmark(
        # As it is stored: decoding would only cost time.
        bookmark=cast("Bookmark", msgspec.Raw(bookmark)),
        deleted_at=with_offset(one.trashed_at),
        restorable_until=with_offset(one.kept_until),
    )


_UPDATED: Final = b',"updated_at":'


class TrashList(TimedService):
    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._purging = Purging(database, clock)
        self._search = TrashSearch(database, clock)

    async def page(self, account: Account, asked: TrashQuery = _ALL) -> TrashPage:
        """The posts that can still be restored and match, the latest first."""
        narrowing = {n: v for n in TRASH_FILTERS if (v := getattr(asked, n))}
        plans.check_fields(account, gates_for(TrashQuery, narrowing))
        bound_to = cursors.query_of(account.account_id, "trash", *narrowing.items())
        before = _position(asked.cursor, bound_to) if asked.cursor else LATEST
        limit = asked.limit or PAGE_DEFAULT
        found, total = await self._found(account, asked, before, limit + 1)
        end = found[limit - 1] if len(found) > limit else None
        return TrashPage(
            [TrashedPost(*one, kept_until=one.trashed_at + KEPT) for one in found[:limit]],
            total,
            None
            if end is None
            else cursors.write(Named(f"{end.trashed_at} {end.post_id}"), bound_to),
            limit,
        )

    async def _found(
        self, account: Account, asked: TrashQuery, before: tuple[int, str], most: int
    ) -> tuple[list[Trashed], int]:
        """Some posts before a place, and how many match in all."""
        account_id, oldest = account.account_id, self._clock() - KEPT
        filter = await self._search.filter(account, asked)
        if filter is None:
            some = await self._stores.trash.page(account_id, oldest, before, most)
            return some, await self._stores.trash.count(account_id, oldest, _LAST)
        found = await self._search.found(account, filter)
        later = [one for one in found if (one.trashed_at, one.post_id) < before][:most]
        ids = [one.post_id for one in later]
        contents = await self._stores.trash.contents(account_id, ids, oldest)
        rows = [
            Trashed(one.post_id, contents[one.post_id], one.trashed_at)
            for one in later
            if one.post_id in contents
        ]
        return rows, len(found)

    async def count(self, account: Account, limit: int) -> int:
        """How many posts can still be restored, as far as a limit."""
        return await self._stores.trash.count(account.account_id, self._clock() - KEPT, limit)

    async def delete(self, account: Account, post_ids: Sequence[str]) -> None:
        """Deletes posts in the trash for good."""
        wanted = list(dict.fromkeys(one for one in post_ids if one.isascii() and one.isdigit()))

        for first in range(0, len(wanted), _DELETED_PER_TURN):
            some = wanted[first : first + _DELETED_PER_TURN]
            await self._database.write(
                partial(self._purging.some, account_id=account.account_id, post_ids=some),
                account.account_id,
                is_continuing=first > 0,
            )
        await self._note(account)

    async def empty(self, account: Account) -> None:
        """Deletes everything for good that is in the trash now."""
        before, account_id = self._clock() + 1, account.account_id

        async def some(transaction: Transaction) -> int:
            return await self._purging.oldest(
                transaction, account_id, before=before, most=_DELETED_PER_TURN
            )

        removed = await self._database.write(some, account_id)
        while removed == _DELETED_PER_TURN:
            removed = await self._database.write(some, account_id, is_continuing=True)
        await self._note(account)

    async def _note(self, account: Account) -> None:
        entry = activity.entry(self._clock, ActivityKind.TRASH_EMPTIED)
        await self._database.write(
            lambda transaction: self._stores.activity.add(
                Writable(transaction, account.account_id), entry
            ),
            account.account_id,
            is_continuing=True,
        )


def _position(cursor: str, bound_to: bytes) -> tuple[int, str]:
    trashed_at, _, post_id = cursors.read_as(cursors.Named, cursor, bound_to).name.partition(" ")
    if not (trashed_at.isascii() and trashed_at.isdigit() and len(trashed_at) <= _DIGITS):
        raise cursors.refused(cursor)
    return int(trashed_at), post_id.replace("\x00", "")


LATEST: Final = (2**63 - 1, "")
_READ_TOGETHER: Final = 200
_IN_QUERIES: Final = (Field.AUTHOR, Field.LABEL)
# Which every post here is.
_IN_TRASH: Final = (Field.IS, TRASH)


class Found(Struct, frozen=True):
    """A post in the trash, without its content."""

    trashed_at: int
    post_id: str


class TrashSearch(TimedService):
    async def filter(
        self, account: Account, asked: TrashQuery | ChangeFilters
    ) -> TrashFilter | None:
        """None if nothing narrows the trash."""
        if not any(getattr(asked, name) for name in TRASH_FILTERS):
            return None
        dates = asked.deleted_from or asked.deleted_to
        zone = await self.zone(account) if dates else None
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
            some = await self._stores.trash.page(account.account_id, oldest, place, _READ_TOGETHER)
            found += await asyncio.to_thread(_matching, some, filter)
            if len(some) < _READ_TOGETHER:
                break
            place = (some[-1].trashed_at, some[-1].post_id)
        return found


def _matching(some: Sequence[Trashed], filter: TrashFilter) -> list[Found]:
    return [Found(one.trashed_at, one.post_id) for one in some if _matches(one, filter)]


def _matches(one: Trashed, filter: TrashFilter) -> bool:
    post = texts_of(one.bookmark)
    if filter.author is not None and not _is_by(post, filter.author):
        return False
    if filter.labels is not None and not _labelled(post, filter.labels.either):
        return False
    if filter.words is None or filter.words.is_empty:
        return filter.words is None

    def meets(condition: Condition) -> bool:
        if condition.field is Field.AUTHOR:
            return _is_by(post, condition.value)
        if condition.field is Field.IS:
            return True
        return _labelled(post, (condition.value,))

    text = post_texts.indexed(fields_of(post), post.tags or (), addresses_of(post))
    return post_texts.matches(text, filter.words.parts, meets)


def _is_by(post: PostTexts, author: str | Names) -> bool:
    names = (author,) if isinstance(author, str) else author.either
    handles = {handle_of(name) for name in names}
    is_handle = order_key(post.author_username) in handles
    return is_handle or order_key(post.author_details.name) in names


def _labelled(post: PostTexts, names: Sequence[str]) -> bool:
    keys = {name_key(tag) for tag in post.tags or ()}
    return any(name in keys for name in names)
