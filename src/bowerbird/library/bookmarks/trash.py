"""Deletes bookmarks, and restores them within 30 days."""

from collections.abc import Sequence

from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import Clock
from bowerbird.library.access.activity import Activity
from bowerbird.library.access.library_lock import lock_library
from bowerbird.library.access.turns import Unfinished
from bowerbird.library.bookmarks.writing.changeset import Changeset, Changesets
from bowerbird.library.bookmarks.writing.label_renames import LabelRenames
from bowerbird.library.bookmarks.writing.reading_ahead import ReadingAhead, is_long
from bowerbird.library.bookmarks.writing.trash_batch import KEPT, TrashBatches
from bowerbird.model import json_depth
from bowerbird.model.accounts import Account
from bowerbird.model.activity import ActivityKind
from bowerbird.model.bookmarks import ImportRecord
from bowerbird.model.bulk import TRASHED
from bowerbird.model.instants import with_offset
from bowerbird.sources import own_json
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.bookmarks.trash import TrashStore
from bowerbird.storage.bulk import BulkStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.libraries import LibraryStore


class Deleted(Struct, frozen=True):
    post_id: str
    restorable_until: str
    """The bookmark can be restored until then."""


class Trash:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._changesets = Changesets(database)
        self._libraries = LibraryStore(database)
        self._bookmarks = BookmarkStore(database)
        self._store = TrashStore(database)
        self._batches = TrashBatches(database, clock)
        self._bulk = BulkStore(database)
        self._renames = LabelRenames(database)
        self._activity = Activity(database, clock)
        self._ahead = ReadingAhead(database, clock)
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
        oldest = self._clock() - KEPT
        found = await self._store.contents(account.account_id, post_ids, oldest)
        return {
            post_id: own_json.read(json_depth.cut(bookmark), is_stored=True).incoming.record
            for post_id, bookmark in found.items()
        }

    async def _delete(
        self, transaction: Transaction, account: Account, post_id: str, removed_at: int | None
    ) -> Deleted | Unfinished[Deleted]:
        """The words of a long post are computed before another transaction deletes it."""
        changeset = await self._changesets.open(transaction, account.account_id)
        sizes = await changeset.sizes([post_id])
        if not is_long(sizes.values()):
            return await self._delete_from(transaction, account, changeset, post_id, removed_at)

        async def work(later: Transaction) -> Deleted:
            changeset = await self._changesets.open(later, account.account_id)
            await changeset.load([post_id])
            return await self._delete_from(later, account, changeset, post_id, removed_at)

        return Unfinished(
            lambda later: self._renames.finished(later, account.account_id, work),
            lambda: self._ahead.stored(account, [post_id]),
        )

    async def _delete_from(
        self,
        transaction: Transaction,
        account: Account,
        changeset: Changeset,
        post_id: str,
        removed_at: int | None,
    ) -> Deleted:
        post = changeset.post(post_id)
        if post is None:
            raise errors.not_found("post", post_id)
        await self._batches.put(transaction, account, changeset, [post], since=removed_at)
        now = self._clock()
        await changeset.finish(now)
        entry = self._activity.entry(ActivityKind.POSTS_DELETED, post_id)
        await self._activity.add(transaction, account.account_id, entry)
        return Deleted(post_id, with_offset(now + KEPT))

    async def _restore(
        self, transaction: Transaction, account: Account, post_id: str
    ) -> bytes | Unfinished[bytes]:
        """The words of a long post are computed before another transaction restores it."""
        sizes = dict[str, int]()
        if post_id.isascii() and post_id.isdigit():
            sizes = await self._store.sizes(transaction, account.account_id, [post_id])
        if not is_long(sizes.values()):
            return await self._take(transaction, account, post_id)
        return Unfinished(
            lambda later: self._renames.finished(
                later, account.account_id, lambda last: self._take(last, account, post_id)
            ),
            lambda: self._ahead.trashed(account, [post_id]),
        )

    async def _take(self, transaction: Transaction, account: Account, post_id: str) -> bytes:
        # Locked before the trash is read, in the same order as for a deletion.
        await lock_library(self._libraries, transaction, account.account_id)
        if not await self._batches.take(transaction, account, [post_id]):
            raise errors.not_found("deleted post", post_id)
        await self._bulk.take_over(transaction, account.account_id, [(post_id, TRASHED)])
        found = await self._bookmarks.by_post_id_within(transaction, account, post_id)
        assert found is not None
        return found
