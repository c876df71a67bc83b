"""Removes the demo library: its posts, labels and Smart View, whatever their owner did with them.

A label stays if a post of the owner has it, or if it was there before the demo.
"""

from typing import Final

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.library.access.library_lock import lock_library
from bowerbird.library.bookmarks.writing.changeset import Changesets
from bowerbird.model.imports import RunRow
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.imports.demo import DemoStore
from bowerbird.storage.labels import LabelStore
from bowerbird.storage.libraries import LibraryStore
from bowerbird.storage.views import ViewStore

# A run that never ended was killed. Filling in the demo takes much less than this.
FILLING: Final = 60 * MICROSECONDS


class DemoRemoval:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._clock = clock
        self._changesets = Changesets(database)
        self._libraries = LibraryStore(database)
        self._labels = LabelStore(database)
        self._views = ViewStore(database)
        self._store = DemoStore(database)

    async def remove(self, transaction: Transaction, account_id: int, run: RunRow | None) -> int:
        """Returns how many posts were removed. Labels and the view are known by their run."""
        post_ids = await self._store.posts(transaction, account_id)
        changeset = await self._changesets.open(transaction, account_id)
        await changeset.load(post_ids)
        posts = [post for post_id in post_ids if (post := changeset.post(post_id)) is not None]
        await changeset.remove(posts)
        await changeset.finish(self._clock())
        await self._store.forget_deleted(transaction, account_id)
        if run is not None:
            await self._remove_named(transaction, account_id, run)
        return len(posts)

    async def _remove_named(self, transaction: Transaction, account_id: int, run: RunRow) -> None:
        """Removes the views and labels that were made while the run filled in the demo."""
        first, last = run.started_at, run.finished_at or run.started_at + FILLING
        for slug, view in (await self._views.all_within(transaction, account_id)).items():
            if first <= view.created_at <= last:
                await self._views.delete(transaction, account_id, slug)
        library = await lock_library(self._libraries, transaction, account_id)
        unused = await self._store.unused_labels(transaction, account_id, (first, last))
        labels = await self._labels.by_ids(transaction, account_id, unused)
        for label in labels.values():
            await self._labels.delete(transaction, library, label)
        await self._libraries.touch(transaction, account_id)
