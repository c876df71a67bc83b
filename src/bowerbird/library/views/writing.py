"""Stores Smart Views and their places in the list, inside the caller's transaction."""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import Clock
from bowerbird.library.access.turns import lock_library
from bowerbird.library.views import changes
from bowerbird.model.events import EventType, Happening
from bowerbird.model.labels import View
from bowerbird.requests.limits import VIEWS_MAX
from bowerbird.storage.bookmarks.views import ViewStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.libraries import LibraryStore, LockedLibrary


class Locked(Struct, frozen=True):
    """A library that a transaction has locked, and its views by slug."""

    library: LockedLibrary
    views: dict[str, View]


class ViewWriting:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._store = ViewStore(database)
        self._libraries = LibraryStore(database)
        self._clock = clock

    async def lock(self, transaction: Transaction, account_id: int) -> Locked:
        library = await lock_library(self._libraries, transaction, account_id)
        return Locked(library, await self._store.all_within(transaction, account_id))

    async def put(
        self, transaction: Transaction, locked: Locked, views: Sequence[View], view: View
    ) -> None:
        """Stores a view, and gives the others their places in the order of `views`."""
        account_id = locked.library.account_id
        await self._store.put(transaction, account_id, view)
        moved = changes.misplaced(views)
        await self._store.place(transaction, account_id, moved)
        before = locked.views.get(view.slug)
        kind = EventType.VIEW_CREATED if before is None else EventType.VIEW_CHANGED
        fields = () if before is None else changes.changed_fields(before, view)
        others = {slug: place for slug, place in moved.items() if slug != view.slug}
        happened = [Happening(kind, fields=fields, view=view.slug), *_moved(others)]
        await self._libraries.touch(transaction, account_id, happened, self._clock())

    async def delete(self, transaction: Transaction, locked: Locked, view: View) -> None:
        account_id = locked.library.account_id
        await self._store.delete(transaction, account_id, view.slug)
        others = [each for each in locked.views.values() if each.slug != view.slug]
        moved = changes.misplaced(others)
        await self._store.place(transaction, account_id, moved)
        happened = [Happening(EventType.VIEW_DELETED, view=view.slug), *_moved(moved)]
        await self._libraries.touch(transaction, account_id, happened, self._clock())

    async def put_back(
        self, transaction: Transaction, account_id: int, slug: str, before: View | None
    ) -> bool:
        """Makes a view what it was before a change; None if there was none."""
        locked = await self.lock(transaction, account_id)
        present = locked.views.get(slug)
        if before is None:
            if present is not None:
                await self.delete(transaction, locked, present)
            return present is not None
        if present is None:
            check_room(locked)
        others = (each for each in locked.views.values() if each is not present)
        views = changes.inserted(others, before, before.position)
        changed = msgspec.structs.replace(changes.placed(before, views), updated_at=self._clock())
        await self.put(transaction, locked, views, changed)
        return True


def check_room(locked: Locked) -> None:
    if len(locked.views) >= VIEWS_MAX:
        raise errors.invalid("name", f"an account can have at most {VIEWS_MAX} views")


def _moved(places: Mapping[str, int]) -> list[Happening]:
    """The events of views that get another place because of a change of another one."""
    return [Happening(EventType.VIEW_CHANGED, fields=("position",), view=slug) for slug in places]
