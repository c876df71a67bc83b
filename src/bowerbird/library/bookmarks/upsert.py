"""Takes posts into a library: new ones in, changed ones over, unchanged ones left alone.

What an arrival says wins, what it leaves unset keeps the library's value. Taking the same
arrivals twice changes nothing. All that needs no lock is done before the transaction.
"""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import UNSET, Struct

from bowerbird.clock import Clock
from bowerbird.library.access.library_lock import lock_library
from bowerbird.library.bookmarks.bookmark_row import Row, complete, draft_of, words_of
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
from bowerbird.storage.bookmarks.upsert import UpsertStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.labels import LabelStore
from bowerbird.storage.libraries import LibraryStore, LockedLibrary
from bowerbird.storage.vectors import VectorStore

_NO_TAGS: Final = frozenset[str]()
_LARGEST: Final = 2**63 - 1


class Prepared(Struct, frozen=True):
    """What is to be written of some arrivals, and how many the library holds as they are."""

    account_id: int
    arrivals: Sequence[Incoming]
    # A row an arrival, still without what depends on the library.
    drafts: Sequence[Row]
    unchanged: int


class Upsert:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._store = UpsertStore(database)
        self._libraries = LibraryStore(database)
        self._label_store = LabelStore(database)
        self._vectors = VectorStore(database)
        self._clock = clock

    async def take(self, account: Account, arrivals: Sequence[Incoming]) -> UpsertOutcome:
        """One transaction for all of them; no two may be of the same post."""
        return await self.write(await self.prepare(account, arrivals))

    async def prepare(self, account: Account, arrivals: Sequence[Incoming]) -> Prepared:
        """Most of a repeated import is unchanged; seeing that takes a read, not a transaction."""
        known = await self._store.glance(account, [a.post_id for a in arrivals])
        differing = [a for a in arrivals if _differs(a, known.get(a.post_id))]
        return prepare_all(account.account_id, differing, len(arrivals) - len(differing))

    async def write(self, prepared: Prepared) -> UpsertOutcome:
        unchanged = UpsertOutcome(unchanged=prepared.unchanged)
        if not prepared.arrivals:
            return unchanged

        async def work(transaction: Transaction) -> UpsertOutcome:
            return await self.put(transaction, prepared)

        return unchanged + await self._database.write(work)

    async def put(self, transaction: Transaction, prepared: Prepared) -> UpsertOutcome:
        """The writing itself, inside the caller's transaction."""
        arrivals = prepared.arrivals
        opened = await lock_library(self._libraries, transaction, prepared.account_id)
        known = await self._store.known(transaction, opened, [a.post_id for a in arrivals])
        labels = await self._labels(transaction, opened, arrivals)
        batch = _Batch(opened, labels, known, self._clock())
        for arrival, draft in zip(arrivals, prepared.drafts, strict=True):
            batch.add(arrival, draft)
        await self._store.insert(transaction, opened, batch.new)
        await self._store.update(transaction, opened, batch.changed)
        await self._drop_stale(transaction, opened, batch.arrivals)
        await self._label_store.relabel(transaction, opened, batch.attached, batch.detached)
        await self._libraries.advance(transaction, opened, batch.change)
        changed = len(batch.new) + len(batch.changed)
        return UpsertOutcome(len(batch.new), len(batch.changed), len(arrivals) - changed)

    async def _drop_stale(
        self, transaction: Transaction, opened: LockedLibrary, changed: dict[int, Incoming]
    ) -> None:
        """A post whose text changed has lost its meaning; one with other counts keeps it."""
        if not changed:
            return
        held = await self._vectors.text_hashes(transaction, opened.account_id, list(changed))
        stale: dict[bytes, list[int]] = {}
        for number, model, hash in held:
            if hash != text_hash(embedding_text(changed[number].record)):
                stale.setdefault(model, []).append(number)
        await self._vectors.drop_stale(transaction, opened.account_id, stale)

    async def _labels(
        self, transaction: Transaction, opened: LockedLibrary, arrivals: Sequence[Incoming]
    ) -> dict[str, Label]:
        named: dict[str, str] = {}
        for arrival in arrivals:
            for key, name in (arrival.tags or {}).items():
                named.setdefault(key, name)
        labels = await self._label_store.all(transaction, opened.account_id)
        missing = {key: name for key, name in named.items() if key not in labels}
        made = {key: opened.new_label(name) for key, name in missing.items()}
        await self._label_store.insert(transaction, opened, list(made.values()), self._clock())
        return labels | made


def prepare_all(account_id: int, arrivals: Sequence[Incoming], unchanged: int = 0) -> Prepared:
    """Without a look at what the library holds of them."""
    drafts = [draft_of(a, words_of(a.record)) for a in arrivals]
    return Prepared(account_id, arrivals, drafts, unchanged)


class _Batch:
    """Sorts the arrivals of one transaction into what storage has to write."""

    def __init__(
        self,
        opened: LockedLibrary,
        labels: dict[str, Label],
        known: dict[str, ExistingBookmark],
        now: int,
    ) -> None:
        self._opened, self._labels, self._known, self._now = opened, labels, known, now
        self.new: list[Row] = []
        self.changed: list[Row] = []
        # What changed bookmarks came from, by their numbers.
        self.arrivals: dict[int, Incoming] = {}
        self.attached: list[tuple[int, int]] = []
        self.detached: list[tuple[int, int]] = []
        self.change = Counts()

    def add(self, incoming: Incoming, draft: Row) -> None:
        known = self._known.get(incoming.post_id)
        if not _differs(incoming, known):
            return
        standing = _standing(incoming, known, self._now)
        number = known.number if known else self._take_number()
        self.change += counts_of(standing)
        if known is not None:
            self.change += -counts_of(known)
        tags = self._relabel(incoming, known, number)
        complete(draft, incoming.post_json, standing, number, tags)
        if known is None:
            self.new.append(draft)
        else:
            self.changed.append(draft)
            self.arrivals[number] = incoming

    def _take_number(self) -> int:
        self._opened.next_number += 1
        return self._opened.next_number - 1

    def _relabel(
        self, incoming: Incoming, known: ExistingBookmark | None, number: int
    ) -> bytes | None:
        """Notes the labels that come and go; returns the ready names of those that stand."""
        before = known.tags if known else _NO_TAGS
        after = before if incoming.tags is None else frozenset(incoming.tags)
        if not before and not after:
            return None
        self.attached += [(self._labels[k].label_id, number) for k in sorted(after - before)]
        self.detached += [(self._labels[k].label_id, number) for k in sorted(before - after)]
        return tags_json([self._labels[key].name for key in sorted(after)])


def _differs(incoming: Incoming, known: ExistingBookmark | None) -> bool:
    if known is None or incoming.content_hash != known.content_hash:
        return True
    if incoming.tags is not None and known.tags != incoming.tags.keys():
        return True
    return _standing(incoming, known, now=0) != Placement(
        known.sort_index, known.imported_at, known.bookmarked_at, known.is_read, known.is_archived
    )


def _standing(incoming: Incoming, known: ExistingBookmark | None, now: int) -> Placement:
    arrival = incoming.record
    imported_at = _first_set(incoming.imported_at, known and known.imported_at, now)
    bookmarked_at = _first_set(incoming.bookmarked_at, known and known.bookmarked_at, imported_at)
    return Placement(
        sort_index=_first_set(
            arrival.sort_index, known and known.sort_index, _index_of(bookmarked_at)
        ),
        imported_at=imported_at,
        bookmarked_at=bookmarked_at,
        is_read=_first_set(arrival.is_read, known and known.is_read, False),  # noqa: FBT003 - a default
        is_archived=_first_set(arrival.is_archived, known and known.is_archived, False),  # noqa: FBT003 - a default
    )


def _index_of(bookmarked_at: int) -> int:
    """X's own form: milliseconds of bookmarking in the high bits; dates far off meet the ends."""
    return min(max((bookmarked_at // 1000) << 20, -_LARGEST), _LARGEST)


def _first_set(given: Any, held: Any, default: Any) -> Any:
    if given is not UNSET:
        return given
    return default if held is None else held
