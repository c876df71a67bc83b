"""Finishes the renames of labels that are on many posts.

A rename changes the label first and then its posts, some per turn. Until the last turn, the other
posts still have the former name, and the label remembers it. Every write that compares names of
labels finishes such a rename first, so no other code sees a label with two names. The regular
sweep finishes a rename whose process was killed.
"""

from bisect import insort
from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec
from msgspec import Struct

from bowerbird.library.access import turns
from bowerbird.library.access.library_lock import lock_library
from bowerbird.library.access.turns import Unfinished
from bowerbird.model.labels import Label, name_key
from bowerbird.model.rendering import tags_json
from bowerbird.model.upsert import Counts
from bowerbird.storage.bookmarks.changeset import ChangesetStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.labels import LabelStore
from bowerbird.storage.libraries import LibraryStore, LockedLibrary

T = TypeVar("T")


class _Position(Struct, frozen=True):
    """The posts of this label up to this number have its new name."""

    label_id: int = 0
    number: int = 0


_START = _Position()


class LabelRenames:
    def __init__(self, database: Database) -> None:
        self._libraries = LibraryStore(database)
        self._labels = LabelStore(database)
        self._posts = ChangesetStore(database)

    async def finished(
        self,
        transaction: Transaction,
        account_id: int,
        work: Callable[[Transaction], Awaitable[T | Unfinished[T]]],
        done: _Position = _START,
    ) -> T | Unfinished[T]:
        """Does the work after the rename that is under way, if there is one."""
        return await self.finished_in(transaction, account_id, lambda t, _: work(t), done)

    async def finished_in(
        self,
        transaction: Transaction,
        account_id: int,
        work: Callable[[Transaction, LockedLibrary], Awaitable[T | Unfinished[T]]],
        done: _Position = _START,
    ) -> T | Unfinished[T]:
        """Does work that needs the locked library, after the rename that is under way."""
        library = await lock_library(self._libraries, transaction, account_id)
        label = None
        if library.has_rename is not False:
            label = await self._labels.being_renamed(transaction, account_id)
        if label is None:
            return await work(transaction, library)
        reached = await self._turn(transaction, library, label, done)
        return Unfinished(lambda later: self.finished_in(later, account_id, work, reached))

    async def start(
        self,
        transaction: Transaction,
        account_id: int,
        work: Callable[[Transaction], Awaitable[T | Unfinished[T]]],
    ) -> T | Unfinished[T]:
        """Takes the first turn of a rename in the transaction that changed the label."""
        step = await self.finished(transaction, account_id, work)
        if isinstance(step, Unfinished) and not await self._labels.being_renamed(
            transaction, account_id
        ):
            # One turn was enough.
            return await work(transaction)
        return step

    async def _turn(
        self, transaction: Transaction, library: LockedLibrary, label: Label, done: _Position
    ) -> _Position:
        after = done.number if done.label_id == label.label_id else 0
        found = await self._posts.sizes_of_label(
            transaction, library, label.label_id, after=after, limit=turns.POSTS_PER_TURN
        )
        count = turns.fitting(size for _, size in found)
        if count:
            last = found[count - 1][0]
            await self._rename(transaction, library, label, (after, last))
            after = last
        if count == len(found) < turns.POSTS_PER_TURN:
            renamed = msgspec.structs.replace(label, former_name=None)
            await self._labels.update(transaction, library, renamed)
        await self._libraries.advance(transaction, library, Counts())
        return _Position(label.label_id, after)

    async def _rename(
        self,
        transaction: Transaction,
        library: LockedLibrary,
        label: Label,
        numbers: tuple[int, int],
    ) -> None:
        posts = await self._posts.posts_of_label(transaction, library, label.label_id, numbers)
        tags: dict[int, bytes | None] = {}
        for post in posts.values():
            if label.former_name in post.tags:
                names = [name for name in post.tags if name != label.former_name]
                # The others are sorted already, and folding all of their names takes long.
                insort(names, label.name, key=name_key)
                tags[post.number] = tags_json(names)
        await self._posts.set_tags(transaction, library, dict(sorted(tags.items())))
