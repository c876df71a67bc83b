"""Records what a run of an import changes, so that it can be undone for 30 days.

The log of an account is bounded. Beyond the bound, the log of the oldest run is removed: that run
can no longer be undone, and the import goes on.
"""

from collections.abc import Mapping, Sequence
from enum import Enum, auto
from typing import Final

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.library.bookmarks.writing.upsert_batch import Batch
from bowerbird.model.arrival import Deletion, RunRow
from bowerbird.model.labels import Label
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.imports import ChangeStore, Log
from bowerbird.storage.libraries import LockedLibrary

UNDO_DAYS: Final = 30
KEPT: Final = UNDO_DAYS * 86_400 * MICROSECONDS
LOG_BYTES_MAX: Final = 256 << 20
_REMOVED_PER_TURN: Final = 500


class ChangedBy(Enum):
    """Who changes a post without a run, which decides what an undo of an earlier run restores."""

    # The post belongs to no run any more.
    OWNER = auto()
    # Its new content stays.
    SOURCE = auto()
    # It only says that the post was removed at its source, which an undo keeps anyway.
    MARK = auto()


def undo_until(now: int) -> int:
    return now + KEPT


class ChangeLog:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._store = ChangeStore(database)
        self._clock = clock

    async def record(
        self,
        transaction: Transaction,
        opened: LockedLibrary,
        run: RunRow | None,
        batch: Batch,
        *,
        created: Sequence[Label],
        deletions: Mapping[str, Deletion],
        by: ChangedBy = ChangedBy.OWNER,
    ) -> None:
        if run is None or not run.undo_until:
            # What is not recorded stays when a run is undone.
            numbers = [row["number"] for row in batch.changed]
            if not numbers or (run is None and by is ChangedBy.MARK):
                return
            if by is ChangedBy.OWNER or run is not None:
                await self._store.forget(transaction, opened.account_id, numbers)
            else:
                await self._store.forget_states(transaction, opened.account_id, numbers)
            return
        if batch.new or batch.changed:
            await self._store.add(
                transaction,
                opened.account_id,
                run.number,
                batch.changes(deletions.get),
                labels=created,
                undo_until=undo_until(self._clock()),
            )

    async def forget(
        self, transaction: Transaction, account_id: int, numbers: Sequence[int]
    ) -> None:
        """Posts that their owner saves are no longer part of earlier runs."""
        if numbers:
            await self._store.forget(transaction, account_id, numbers)

    async def make_room(self, account_id: int) -> None:
        """Removes the oldest logs, in short transactions, until the others are small enough."""

        async def work(transaction: Transaction) -> None:
            await self._remove_oldest(transaction, account_id)

        while _is_full(await self._store.logs(self._database, account_id)):
            await self._database.write(work, account_id)

    async def _remove_oldest(self, transaction: Transaction, account_id: int) -> None:
        logs = await self._store.logs(transaction, account_id)
        if not _is_full(logs):
            return
        oldest = logs[0].number
        await self._store.give_up(transaction, account_id, oldest)
        await self._store.remove_first(transaction, account_id, oldest, _REMOVED_PER_TURN)


def _is_full(logs: Sequence[Log]) -> bool:
    return sum(log.size for log in logs) > LOG_BYTES_MAX
