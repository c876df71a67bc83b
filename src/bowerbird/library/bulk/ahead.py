"""Computes the words of the posts that the next turn of a change moves, before its transaction."""

from collections.abc import Sequence

from bowerbird.clock import Clock
from bowerbird.library.bookmarks.writing.reading_ahead import ReadingAhead
from bowerbird.library.bulk.turn import MOVES, TRASHED_PER_TURN
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import BulkAction, BulkRow, BulkState
from bowerbird.storage.bulk import BulkStore, unpacked
from bowerbird.storage.database import Database


class BulkAhead:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._store = BulkStore(database)
        self._ahead = ReadingAhead(database, clock)

    async def of_new(self, account: Account, action: BulkAction, parts: Sequence[bytes]) -> None:
        """For the first turn of a change that is about to start."""
        if action in MOVES and parts:
            await self._read(account, action, unpacked(parts[0]))

    async def of_next(self, account: Account, row: BulkRow) -> None:
        """For the next turn of a change or of its undo."""
        if row.action not in MOVES or row.is_finished:
            return
        account_id = account.account_id
        if row.state is BulkState.UNDOING:
            await self.of_undo(account, row)
        elif found := await self._store.first_part(self._database, account_id, row.number):
            await self._read(account, row.action, found[1])

    async def of_undo(self, account: Account, row: BulkRow) -> None:
        """For the next turn of an undo, which may not have started."""
        if row.action not in MOVES:
            return
        ids = await self._changed(account, row)
        undoing = BulkAction.TRASH if row.action is BulkAction.RESTORE else BulkAction.RESTORE
        await self._read(account, undoing, ids)

    async def _changed(self, account: Account, row: BulkRow) -> list[str]:
        found = await self._store.first_posts(
            self._database, account.account_id, row.number, TRASHED_PER_TURN
        )
        return list(dict.fromkeys(one.change.post_id for one in found))

    async def _read(self, account: Account, action: BulkAction, post_ids: Sequence[str]) -> None:
        some = post_ids[:TRASHED_PER_TURN]
        if action is BulkAction.TRASH:
            await self._ahead.stored(account, some)
        else:
            await self._ahead.trashed(account, some)
