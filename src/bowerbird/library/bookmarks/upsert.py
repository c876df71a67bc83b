"""Imports posts into a library: inserts new ones, updates changed ones, skips unchanged ones.

The values of an incoming post replace those of the library; a value that it leaves unset stays as
it is. Importing the same posts twice changes nothing. Work that needs no lock is done before the
transaction.
"""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import UNSET, Struct

from bowerbird.clock import Clock
from bowerbird.library.access import turns
from bowerbird.library.access.library_lock import lock_library
from bowerbird.library.access.turns import Unfinished
from bowerbird.library.bookmarks.bookmark_row import Row, complete, draft_of, words_of
from bowerbird.library.bookmarks.label_renames import LabelRenames
from bowerbird.library.bookmarks.label_room import LabelRoom
from bowerbird.library.vectors.embedding_text import embedding_text, text_hash
from bowerbird.model.accounts import Account
from bowerbird.model.labels import Label
from bowerbird.model.rendering import tags_json
from bowerbird.model.upsert import (
    Counts,
    ExistingBookmark,
    Incoming,
    Placement,
    UpsertOutcome,
    counts_of,
)
from bowerbird.requests import limits
from bowerbird.storage.bookmarks.upsert import UpsertStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.labels import LabelStore
from bowerbird.storage.libraries import LibraryStore, LockedLibrary
from bowerbird.storage.vectors import VectorStore

_NO_TAGS: Final = frozenset[str]()
_LARGEST: Final = 2**63 - 1


class Prepared(Struct, frozen=True):
    """The incoming posts that have to be written, and the number of unchanged ones."""

    account_id: int
    arrivals: Sequence[Incoming]
    # One row per post, without the columns that depend on the library.
    drafts: Sequence[Row]
    unchanged: int


class Upsert:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._store = UpsertStore(database)
        self._libraries = LibraryStore(database)
        self._label_store = LabelStore(database)
        self._vectors = VectorStore(database)
        self._renames = LabelRenames(database)
        self._clock = clock

    async def take(self, account: Account, arrivals: Sequence[Incoming]) -> UpsertOutcome:
        """Writes all of them in one transaction. No post may occur twice."""
        return await self.write(await self.prepare(account, arrivals))

    async def prepare(self, account: Account, arrivals: Sequence[Incoming]) -> Prepared:
        """Finds the changed posts. A repeated import then needs a read, but no transaction."""
        stored = await self._store.stored(account, [a.post_id for a in arrivals])
        differing = [a for a in arrivals if _differs(a, stored.get(a.post_id))]
        return prepare_all(account.account_id, differing, len(arrivals) - len(differing))

    async def write(self, prepared: Prepared) -> UpsertOutcome:
        unchanged = UpsertOutcome(unchanged=prepared.unchanged)
        if not prepared.arrivals:
            return unchanged

        async def work(transaction: Transaction) -> UpsertOutcome | Unfinished[UpsertOutcome]:
            return await self._renames.finished(
                transaction, prepared.account_id, lambda later: self.put(later, prepared)
            )

        return unchanged + await turns.run(self._database, work, prepared.account_id)

    async def put(
        self, transaction: Transaction, prepared: Prepared, *, is_bounded: bool = True
    ) -> UpsertOutcome:
        """Writes the posts inside the caller's transaction. No label may be being renamed.

        If it is bounded, labels beyond the limits are left out and reported.
        """
        opened = await lock_library(self._libraries, transaction, prepared.account_id)
        stored = await self._store.stored_within(
            transaction, opened, [a.post_id for a in prepared.arrivals]
        )
        room = await self._room(
            transaction, opened, prepared.arrivals, stored, is_bounded=is_bounded
        )
        arrivals = [room.fit(a, stored.get(a.post_id)) for a in prepared.arrivals]
        await self._label_store.insert(transaction, opened, room.created, self._clock())
        batch = _Batch(opened, room.labels, stored, self._clock())
        for arrival, draft in zip(arrivals, prepared.drafts, strict=True):
            batch.add(arrival, draft)
        await self._store.insert(transaction, opened, batch.new)
        await self._store.update(transaction, opened, batch.changed)
        await self._drop_stale(transaction, opened, batch.arrivals)
        await self._label_store.relabel(transaction, opened, batch.attached, batch.detached)
        await self._libraries.advance(transaction, opened, batch.change)
        changed = len(batch.new) + len(batch.changed)
        unchanged = len(arrivals) - changed
        return UpsertOutcome(len(batch.new), len(batch.changed), unchanged, tuple(room.left_out))

    async def _drop_stale(
        self, transaction: Transaction, opened: LockedLibrary, changed: dict[int, Incoming]
    ) -> None:
        """Deletes the vectors of posts whose text changed. Changed counts do not matter."""
        if not changed:
            return
        hashes = await self._vectors.text_hashes(transaction, opened.account_id, list(changed))
        stale: dict[bytes, list[int]] = {}
        for number, model, hash in hashes:
            if hash != text_hash(embedding_text(changed[number].record)):
                stale.setdefault(model, []).append(number)
        await self._vectors.drop_stale(transaction, opened.account_id, stale)

    async def _room(
        self,
        transaction: Transaction,
        opened: LockedLibrary,
        arrivals: Sequence[Incoming],
        stored: dict[str, ExistingBookmark],
        *,
        is_bounded: bool,
    ) -> LabelRoom:
        keys = {key for arrival in arrivals for key in arrival.tags or ()}
        named = keys.union(*(bookmark.tags for bookmark in stored.values()))
        labels = await self._label_store.named(transaction, opened.account_id, sorted(named))
        count = 0
        if keys - labels.keys():
            count = await self._label_store.count_within(transaction, opened.account_id)
        if not is_bounded:
            return LabelRoom(opened, labels, _LARGEST, _LARGEST)
        return LabelRoom(opened, labels, limits.LABELS_MAX - count, limits.POST_LABELS_MAX)


def prepare_all(account_id: int, arrivals: Sequence[Incoming], unchanged: int = 0) -> Prepared:
    """Prepares all posts, without comparing them with the library."""
    drafts = [draft_of(a, words_of(a.record)) for a in arrivals]
    return Prepared(account_id, arrivals, drafts, unchanged)


class _Batch:
    """Collects the rows and labels that the incoming posts of one transaction change."""

    def __init__(
        self,
        opened: LockedLibrary,
        labels: dict[str, Label],
        stored: dict[str, ExistingBookmark],
        now: int,
    ) -> None:
        self._opened, self._labels, self._stored, self._now = opened, labels, stored, now
        self.new: list[Row] = []
        self.changed: list[Row] = []
        # The incoming post of each changed bookmark, by its number.
        self.arrivals: dict[int, Incoming] = {}
        self.attached: list[tuple[int, int]] = []
        self.detached: list[tuple[int, int]] = []
        self.change = Counts()

    def add(self, incoming: Incoming, draft: Row) -> None:
        stored = self._stored.get(incoming.post_id)
        if not _differs(incoming, stored):
            return
        placement = _placement(incoming, stored, self._now)
        number = stored.number if stored else self._take_number()
        self.change += counts_of(placement)
        if stored is not None:
            self.change += -counts_of(stored)
        tags = self._relabel(incoming, stored, number)
        complete(draft, incoming.post_json, placement, number, tags)
        if stored is None:
            self.new.append(draft)
        else:
            self.changed.append(draft)
            self.arrivals[number] = incoming

    def _take_number(self) -> int:
        self._opened.next_number += 1
        return self._opened.next_number - 1

    def _relabel(
        self, incoming: Incoming, stored: ExistingBookmark | None, number: int
    ) -> bytes | None:
        """Records added and removed labels; returns the names of the current ones as JSON."""
        before = stored.tags if stored else _NO_TAGS
        after = before if incoming.tags is None else frozenset(incoming.tags)
        if not before and not after:
            return None
        self.attached += [(self._labels[k].label_id, number) for k in sorted(after - before)]
        self.detached += [(self._labels[k].label_id, number) for k in sorted(before - after)]
        return tags_json([self._labels[key].name for key in sorted(after)])


def _differs(incoming: Incoming, stored: ExistingBookmark | None) -> bool:
    if stored is None or incoming.content_hash != stored.content_hash:
        return True
    if incoming.tags is not None and stored.tags != incoming.tags.keys():
        return True
    return _placement(incoming, stored, now=0) != Placement(
        stored.sort_index,
        stored.imported_at,
        stored.bookmarked_at,
        stored.is_read,
        stored.is_archived,
    )


def _placement(incoming: Incoming, stored: ExistingBookmark | None, now: int) -> Placement:
    arrival = incoming.record
    imported_at = _first_set(incoming.imported_at, stored and stored.imported_at, now)
    bookmarked_at = _first_set(incoming.bookmarked_at, stored and stored.bookmarked_at, imported_at)
    return Placement(
        sort_index=_first_set(
            arrival.sort_index, stored and stored.sort_index, _index_of(bookmarked_at)
        ),
        imported_at=imported_at,
        bookmarked_at=bookmarked_at,
        is_read=_first_set(arrival.is_read, stored and stored.is_read, False),  # noqa: FBT003 - a default
        is_archived=_first_set(arrival.is_archived, stored and stored.is_archived, False),  # noqa: FBT003 - a default
    )


def _index_of(bookmarked_at: int) -> int:
    """The format of X: the time in milliseconds in the high bits, clamped to 64 bits."""
    return min(max((bookmarked_at // 1000) << 20, -_LARGEST), _LARGEST)


def _first_set(incoming: Any, stored: Any, default: Any) -> Any:
    if incoming is not UNSET:
        return incoming
    return default if stored is None else stored
