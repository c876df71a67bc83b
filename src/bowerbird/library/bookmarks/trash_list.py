"""Lists what is in the trash, and deletes posts for good."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from msgspec import Struct

from bowerbird.clock import Clock
from bowerbird.library.access.activity import Activity
from bowerbird.library.bookmarks import cursors
from bowerbird.library.bookmarks.cursors import Named
from bowerbird.library.bookmarks.writing.trash_batch import KEPT
from bowerbird.model.accounts import Account, ActivityKind
from bowerbird.storage.bookmarks.trash import TrashStore
from bowerbird.storage.database import Database, Transaction

PAGE: Final = 50
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
    total: int
    next_cursor: str | None


class TrashList:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._store = TrashStore(database)
        self._activity = Activity(database, clock)
        self._clock = clock

    async def page(self, account: Account, cursor: str | None = None) -> TrashPage:
        """The posts that can still be restored, the latest first."""
        bound_to = cursors.query_of(account.account_id, "trash")
        before = (_LAST, "") if cursor is None else _position(cursor, bound_to)
        oldest = self._clock() - KEPT
        found = await self._store.page(account.account_id, oldest, before, PAGE + 1)
        end = found[PAGE - 1] if len(found) > PAGE else None
        return TrashPage(
            [TrashedPost(*one, kept_until=one.trashed_at + KEPT) for one in found[:PAGE]],
            await self._store.count(account.account_id, oldest, _LAST),
            None
            if end is None
            else cursors.write(Named(f"{end.trashed_at} {end.post_id}"), bound_to),
        )

    async def count(self, account: Account, limit: int) -> int:
        """How many posts can still be restored, as far as a limit."""
        return await self._store.count(account.account_id, self._clock() - KEPT, limit)

    async def delete(self, account: Account, post_ids: Sequence[str]) -> None:
        """Deletes posts in the trash for good."""
        wanted = list(dict.fromkeys(one for one in post_ids if one.isascii() and one.isdigit()))

        for first in range(0, len(wanted), _DELETED_PER_TURN):
            some = wanted[first : first + _DELETED_PER_TURN]
            await self._database.write(
                partial(self._store.remove, account_id=account.account_id, post_ids=some),
                account.account_id,
                is_continuing=first > 0,
            )
        await self._note(account)

    async def empty(self, account: Account) -> None:
        """Deletes everything for good that is in the trash now."""
        before, account_id = self._clock() + 1, account.account_id

        async def some(transaction: Transaction) -> int:
            return await self._store.empty(
                transaction, account_id, before=before, most=_DELETED_PER_TURN
            )

        removed = await self._database.write(some, account_id)
        while removed == _DELETED_PER_TURN:
            removed = await self._database.write(some, account_id, is_continuing=True)
        await self._note(account)

    async def _note(self, account: Account) -> None:
        entry = self._activity.entry(ActivityKind.TRASH_EMPTIED)
        await self._database.write(
            lambda transaction: self._activity.add(transaction, account.account_id, entry),
            account.account_id,
            is_continuing=True,
        )


def _position(cursor: str, bound_to: bytes) -> tuple[int, str]:
    trashed_at, _, post_id = cursors.read_name(cursor, bound_to).partition(" ")
    if not (trashed_at.isascii() and trashed_at.isdigit() and len(trashed_at) <= _DIGITS):
        raise cursors.refused(cursor)
    return int(trashed_at), post_id.replace("\x00", "")
