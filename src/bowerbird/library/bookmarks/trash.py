"""Deletes bookmarks, and restores them within 30 days."""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.library.access.activity import Activity
from bowerbird.library.access.library_lock import lock_library
from bowerbird.library.access.turns import Unfinished
from bowerbird.library.bookmarks.changeset import Changesets
from bowerbird.library.bookmarks.label_renames import LabelRenames
from bowerbird.library.bookmarks.upsert import Upsert, prepare_all
from bowerbird.library.bookmarks.upsert_batch import index_of
from bowerbird.model import json_depth
from bowerbird.model.accounts import Account
from bowerbird.model.activity import ActivityKind
from bowerbird.model.bookmarks import ImportRecord
from bowerbird.model.imports import Deletion, Ordered
from bowerbird.model.instants import with_offset
from bowerbird.sources import own_json
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.bookmarks.deletions import DeletionStore
from bowerbird.storage.bookmarks.trash import TrashStore
from bowerbird.storage.bookmarks.upsert import UpsertStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.libraries import LibraryStore
from bowerbird.storage.places import place_of

KEPT_DAYS: Final = 30
_KEPT: Final = KEPT_DAYS * 86_400 * MICROSECONDS
# Of the posts that their owner deleted, the service remembers the latest.
DELETIONS_MAX: Final = 50_000


class Deleted(Struct, frozen=True):
    post_id: str
    restorable_until: str


class Trash:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._changesets = Changesets(database)
        self._libraries = LibraryStore(database)
        self._bookmarks = BookmarkStore(database)
        self._store = TrashStore(database)
        self._upserts = UpsertStore(database)
        self._deletions = DeletionStore(database)
        self._renames = LabelRenames(database)
        self._intake = Upsert(database, clock)
        self._activity = Activity(database, clock)
        self._clock = clock

    async def delete(
        self,
        transaction: Transaction,
        account: Account,
        post_id: str,
        removed_at: int | None = None,
    ) -> Deleted | Unfinished[Deleted]:
        """`removed_at` is when its source removed it. Saved again after that, it comes back."""
        return await self._renames.finished(
            transaction,
            account.account_id,
            lambda later: self._delete(later, account, post_id, removed_at),
        )

    async def restore(
        self, transaction: Transaction, account: Account, post_id: str
    ) -> bytes | Unfinished[bytes]:
        """Restores a bookmark to its old position and returns its JSON."""
        return await self._renames.finished(
            transaction, account.account_id, lambda later: self._restore(later, account, post_id)
        )

    async def contents(self, account: Account, post_ids: Sequence[str]) -> dict[str, ImportRecord]:
        """Deleted posts that can still be restored. They stay in the trash."""
        oldest = self._clock() - _KEPT
        found = await self._store.contents(account.account_id, post_ids, oldest)
        return {
            post_id: own_json.read(json_depth.cut(bookmark), is_stored=True).incoming.record
            for post_id, bookmark in found.items()
        }

    async def _delete(
        self, transaction: Transaction, account: Account, post_id: str, removed_at: int | None
    ) -> Deleted:
        changeset = await self._changesets.open(transaction, account.account_id)
        await changeset.load([post_id])
        post = changeset.post(post_id)
        if post is None:
            raise errors.not_found("bookmark", post_id)
        bookmark = await self._bookmarks.by_post_id_within(transaction, account, post_id)
        assert bookmark is not None
        now = self._clock()
        await self._store.put(transaction, account.account_id, post_id, bookmark, now)
        since = now if removed_at is None else min(removed_at, now)
        await self._remember(transaction, account, post_id, since)
        await changeset.remove(post)
        await changeset.finish(now)
        entry = self._activity.entry(ActivityKind.POSTS_DELETED, post_id)
        await self._activity.add(transaction, account.account_id, entry)
        return Deleted(post_id, with_offset(now + _KEPT))

    async def _remember(
        self, transaction: Transaction, account: Account, post_id: str, since: int
    ) -> None:
        """Marks a post as deleted, so that imports do not bring it back."""
        place = place_of(account.local_number)
        stored = await self._upserts.posts(transaction, account.account_id, place, [post_id])
        existing = stored[post_id].existing
        deletion = Deletion(
            post_id,
            since,
            existing.sort_index if existing.order_source == Ordered.X else index_of(since),
            existing.completeness,
            existing.order_source,
        )
        await self._deletions.put(transaction, account.account_id, [deletion], DELETIONS_MAX)

    async def _restore(self, transaction: Transaction, account: Account, post_id: str) -> bytes:
        # Locked before the trash is read, in the same order as for a deletion.
        await lock_library(self._libraries, transaction, account.account_id)
        deleted = await self._take(transaction, account, post_id)
        if deleted is None:
            raise errors.not_found("deleted bookmark", post_id)
        read = own_json.read(json_depth.cut(deleted), is_stored=True)
        incoming = read.incoming
        deletion = await self._deletions.take(transaction, account.account_id, post_id)
        if deletion is not None:
            kept = {"completeness": deletion.completeness, "order_source": deletion.order_source}
            incoming = msgspec.structs.replace(read.incoming, **kept)
        prepared = prepare_all(account.account_id, [incoming])
        # It gets all the labels back that it had, even if the bounds are lower now.
        await self._intake.put(transaction, prepared, is_bounded=False)
        found = await self._bookmarks.by_post_id_within(transaction, account, post_id)
        assert found is not None
        return found

    async def _take(self, transaction: Transaction, account: Account, post_id: str) -> bytes | None:
        if not (post_id.isascii() and post_id.isdigit()):
            return None
        # If it was imported again since, the deleted state must not overwrite it.
        if await self._bookmarks.by_post_id_within(transaction, account, post_id):
            return None
        oldest = self._clock() - _KEPT
        return await self._store.take(transaction, account.account_id, post_id, oldest)
