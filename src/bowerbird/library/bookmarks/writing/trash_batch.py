"""Moves some posts into the trash, out of it or away, inside the caller's transaction."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.library.access import turns
from bowerbird.library.bookmarks.writing.changeset import Changeset
from bowerbird.library.bookmarks.writing.upsert import Upsert
from bowerbird.library.bookmarks.writing.upsert_batch import index_of
from bowerbird.model import events, json_depth
from bowerbird.model.arrival import Deletion, OrderSource
from bowerbird.model.bulk import BulkAction, KeptTrash
from bowerbird.sources import own_json
from bowerbird.storage.bookmarks.changeset import EditablePost
from bowerbird.storage.bookmarks.trash import Trashed
from bowerbird.storage.database import Database, Transaction, Writable
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.stores import TimedService

KEPT_DAYS: Final = 30
KEPT: Final = KEPT_DAYS * 86_400 * MICROSECONDS
# Of the posts that their owner deleted, the service remembers the latest.
DELETIONS_MAX: Final = 50_000
_AS_THEY_WERE: Final[dict[str, KeptTrash]] = {}
# Moving a post into the trash or out of it also writes its words.
TRASHED_PER_TURN: Final = 50
TRASHED_BYTES_PER_TURN: Final = 128 << 10
# Their turns also need the words of their posts.
_MOVES: Final = (BulkAction.TRASH, BulkAction.RESTORE, BulkAction.SAVE)


def per_turn(action: BulkAction) -> int:
    return TRASHED_PER_TURN if action in _MOVES else turns.POSTS_PER_TURN


def fitting(action: BulkAction, sizes: Sequence[int]) -> int:
    """How many posts of these sizes one turn can change, in this order."""
    most_bytes = TRASHED_BYTES_PER_TURN if action in _MOVES else turns.BYTES_PER_TURN
    return turns.fitting(sizes, per_turn(action), most_bytes)


class TrashBatches(TimedService):
    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._intake = Upsert(database, clock)

    async def put(
        self,
        changeset: Changeset,
        posts: Sequence[EditablePost],
        *,
        since: int | None = None,
        kept: Mapping[str, KeptTrash] = _AS_THEY_WERE,
    ) -> None:
        """Moves posts of a changeset into the trash.

        `since` is when their source removed them. `kept` has what the trash had of those that go
        back to it.
        """
        if not posts:
            return
        library, now = changeset.library, self._clock()
        stored = await self._stores.bookmarks.contents_of(library, [post.number for post in posts])
        trashed = [
            Trashed(
                post.post_id,
                stored[post.number],
                kept[post.post_id].trashed_at if post.post_id in kept else now,
            )
            for post in posts
        ]
        await self._stores.trash.put(library, trashed)
        since = now if since is None else min(since, now)
        await self._remember(library, posts, since, kept)
        await changeset.remove(posts)

    async def take(self, library: LockedLibrary, post_ids: Sequence[str]) -> dict[str, KeptTrash]:
        """Moves posts out of the trash to where they were; returns those that it moved."""
        transaction, account_id = library.transaction, library.account_id
        wanted = await self._absent(library, post_ids)
        if not wanted:
            return {}
        taken = await self._stores.trash.take(library, wanted, self._clock() - KEPT)
        if not taken:
            return {}
        ids = [one.post_id for one in taken]
        deletions = await self._stores.deletions.known(Writable(transaction, account_id), ids)
        await self._stores.deletions.remove(library, list(deletions))
        arrivals = []
        for one in taken:
            incoming = own_json.read(json_depth.cut(one.bookmark), is_stored=True).incoming
            if (deletion := deletions.get(one.post_id)) is not None:
                incoming = msgspec.structs.replace(
                    incoming, completeness=deletion.completeness, order_source=deletion.order_source
                )
            arrivals.append(incoming)
        # They get all the labels back that they had, even if the bounds are lower now.
        await self._intake.restore(transaction, account_id, arrivals)
        return {one.post_id: KeptTrash(one.trashed_at, deletions.get(one.post_id)) for one in taken}

    async def _absent(self, library: LockedLibrary, post_ids: Sequence[str]) -> list[str]:
        """If a post was imported again since, the deleted state must not overwrite it."""
        wanted = [one for one in post_ids if one.isascii() and one.isdigit()]
        if not wanted:
            return []
        present = await self._stores.upserts.existing(library, library.place, wanted)
        return [one for one in wanted if one not in present]

    async def _remember(
        self,
        library: LockedLibrary,
        posts: Sequence[EditablePost],
        since: int,
        kept: Mapping[str, KeptTrash],
    ) -> None:
        """Marks posts as deleted, so that imports do not bring them back."""
        ids = [post.post_id for post in posts]
        stored = await self._stores.upserts.existing(library, library.place, ids)
        deletions = []
        for post_id in ids:
            if post_id in kept:
                known = kept[post_id].deletion
                deletions += [] if known is None else [known]
                continue
            existing = stored[post_id]
            index = (
                existing.sort_index if existing.order_source == OrderSource.X else index_of(since)
            )
            deletions.append(
                Deletion(post_id, since, index, existing.completeness, existing.order_source)
            )
        await self._stores.deletions.put(library, deletions, DELETIONS_MAX)


class Purging(TimedService):
    """Removes posts from the trash for good."""

    async def some(
        self, transaction: Transaction, account_id: int, post_ids: Sequence[str]
    ) -> None:
        # Locked first, as for a deletion.
        library = await self._stores.libraries.lock_if_there(transaction, account_id)
        if library is not None:
            found = list(await self._stores.trash.sizes(library, post_ids))
            await self._stores.trash.remove(library, found)
            await self._log(library, found)

    async def oldest(
        self, transaction: Transaction, account_id: int, *, before: int, most: int
    ) -> int:
        """Removes some posts that were deleted before a time; returns how many."""
        library = await self._stores.libraries.lock_if_there(transaction, account_id)
        if library is None:
            return 0
        purged = await self._stores.trash.empty(library, before=before, most=most)
        await self._log(library, purged)
        return len(purged)

    async def _log(self, library: LockedLibrary, purged: Sequence[str]) -> None:
        if purged:
            happened = events.of_purged(purged)
            await self._stores.libraries.touch(library, happened, self._clock())
