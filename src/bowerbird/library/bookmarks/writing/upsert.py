"""Imports posts into a library: inserts new ones, updates changed ones, skips unchanged ones.

The values of an incoming post replace those of the library; a value that it leaves unset stays as
it is. Importing the same posts twice changes nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from bowerbird.clock import Clock
from bowerbird.library.bookmarks.writing.bookmark_row import Row, counted_words, draft_of
from bowerbird.library.bookmarks.writing.kept_changes import ChangedBy, ChangeLog
from bowerbird.library.bookmarks.writing.label_renames import LabelRoom
from bowerbird.library.bookmarks.writing.upsert_batch import Batch, differs
from bowerbird.library.vectors.builds import StaleVectors, embedding_text, text_hash
from bowerbird.model.arrival import (
    Completeness,
    Deletion,
    ExistingBookmark,
    Incoming,
    LeftOutLabels,
    RunRow,
)
from bowerbird.model.bulk import Changed
from bowerbird.model.labels import Label
from bowerbird.requests import limits
from bowerbird.storage.bookmarks.word_index import AFTER_ADDING
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.stores import TimedService

_LARGEST: Final = 2**63 - 1
_NO_DELETIONS: Final[Mapping[str, Deletion]] = {}


class Write(NamedTuple):
    """A post that has to be written."""

    incoming: Incoming
    # Its row, without the columns that depend on the library.
    draft: Row
    # Only counts or the picture of the author change.
    is_minor: bool = False


class Written(NamedTuple):
    """The ids of the posts that were written, and their labels.

    `recorded`: what an undo gives back, if the caller keeps it.
    """

    new: frozenset[str]
    changed: frozenset[str]
    created: tuple[Label, ...]
    left_out: tuple[LeftOutLabels, ...]
    recorded: Sequence[Changed] = ()


class Upsert(TimedService):
    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._vectors = StaleVectors(database)
        self.log = ChangeLog(database, clock)

    async def restore(
        self, transaction: Transaction, account_id: int, arrivals: Sequence[Incoming]
    ) -> None:
        """Writes posts back that were in the trash, with all their labels."""
        writes = writes_of(arrivals)
        opened = await self._stores.libraries.lock(transaction, account_id)
        async with self._stores.word_merging.bounded(transaction, AFTER_ADDING):
            await self.put_into(opened, writes, is_restored=True)

    async def put_into(
        self,
        opened: LockedLibrary,
        writes: Sequence[Write],
        *,
        stored: dict[str, ExistingBookmark] | None = None,
        run: RunRow | None = None,
        deletions: Mapping[str, Deletion] = _NO_DELETIONS,
        by: ChangedBy = ChangedBy.OWNER,
        is_restored: bool = False,
        is_recorded: bool = False,
    ) -> Written:
        """Writes the posts into a locked library, and records them as changes of a run.

        `stored` are the bookmarks of these posts, if the caller has read them in this transaction.
        `deletions` are the marks of deleted posts that come back. `by` counts if there is no run.
        Restored posts come out of the trash: no limit applies to their labels. `is_recorded`: the
        caller keeps what was changed for an undo.
        """
        if stored is None:
            ids = [one.incoming.post_id for one in writes]
            stored = await self._stores.upserts.existing(opened, opened.place, ids)
        arrivals = [one.incoming for one in writes]
        is_bounded = not is_restored and by is not ChangedBy.UNDO
        room = await self._room(opened, arrivals, stored, is_bounded=is_bounded)
        # A post that gets no label because there is no room may be as it was.
        rows = [
            (fitted, one.draft)
            for one in writes
            if differs(
                fitted := room.fit(one.incoming, existing := stored.get(one.incoming.post_id)),
                existing,
            )
        ]
        now = self._clock()
        await self._stores.labels.insert(opened, room.created, now)
        changing = [stored[a.post_id].number for a, _ in rows if a.post_id in stored]
        renderings: dict[int, bytes] = {}
        if changing:
            renderings = await self._stores.upserts.renderings(opened, changing)
        batch = Batch(opened, room.labels, stored, renderings, now)
        for arrival, draft in rows:
            batch.add(arrival, draft)
        await self._stores.upserts.insert(opened, batch.new)
        await self._stores.deletions.remove(opened, list(deletions))
        reworded = [row["number"] for row in batch.changed if row["words"] is not None]
        counted = await counted_words(self._database, opened, reworded)
        await self._stores.upserts.update(opened, batch.changed, counted)
        await self.mark_stale(opened, batch.arrivals)
        await self._note_links(opened, batch, stored)
        await self._stores.labels.relabel(opened, batch.attached, batch.detached)
        await self.log.record(opened, run, batch, created=room.created, deletions=deletions, by=by)
        if not is_restored:
            fields = [] if is_recorded else [one[:2] for one in batch.changed_fields()]
            created = [row["post_id"] for row in batch.new]
            await self._stores.bulk.take_over(
                opened,
                [*fields, *batch.replaced_values()],
                # What is kept of a post that was here before: then it has a mark.
                [one for one in created if not is_recorded or one in deletions],
                is_recorded=is_recorded,
            )
            await self._stores.bulk.claim(opened, batch.labelled(), opened.version + 1)
        if batch.new or batch.changed or room.created:
            happened = batch.happened(room.created, is_restored=is_restored)
            await self._stores.libraries.advance(opened, batch.change, happened, now)
        return Written(
            frozenset(row["post_id"] for row in batch.new),
            frozenset(row["post_id"] for row in batch.changed),
            tuple(room.created),
            tuple(room.left_out),
            batch.recorded(deletions.get, now) if is_recorded else (),
        )

    async def _note_links(
        self, opened: LockedLibrary, batch: Batch, stored: Mapping[str, ExistingBookmark]
    ) -> None:
        """A job reads the text of posts that are only links, until they have one."""
        bare = [row["post_id"] for row in batch.new if row["completeness"] == Completeness.STUB]
        if bare:
            await self._stores.links.add(opened, bare, self._clock())
        filled = [
            row["post_id"]
            for row in batch.changed
            if row["completeness"] > stored[row["post_id"]].completeness == Completeness.STUB
        ]
        if filled:
            await self._stores.links.remove(opened, filled)

    async def mark_stale(self, opened: LockedLibrary, changed: dict[int, Incoming]) -> None:
        """Marks the vectors of posts whose text changed. Changed counts do not matter."""
        await self._vectors.mark(
            opened.transaction,
            opened.account_id,
            list(changed),
            lambda number: text_hash(embedding_text(changed[number].record)),
        )

    async def _room(
        self,
        opened: LockedLibrary,
        arrivals: Sequence[Incoming],
        stored: dict[str, ExistingBookmark],
        *,
        is_bounded: bool,
    ) -> LabelRoom:
        keys = {key for arrival in arrivals for key in arrival.tags or ()}
        named = keys.union(*(bookmark.tags for bookmark in stored.values()))
        labels = await self._stores.labels.named(opened, sorted(named))
        count = 0
        if keys - labels.keys():
            count = await self._stores.labels.count_within(opened)
        most = (_LARGEST, _LARGEST)
        if is_bounded:
            most = (limits.LABELS_MAX - count, limits.POST_LABELS_MAX)
        return LabelRoom(opened.new_label, labels, *most)


def writes_of(arrivals: Sequence[Incoming]) -> list[Write]:
    """All of them, without comparing them with the library."""
    return [Write(a, draft_of(a, None)) for a in arrivals]
