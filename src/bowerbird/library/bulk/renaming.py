"""One turn of renaming a label on its posts, and of renaming it back.

The label gets its new name in the first turn. Every other write that compares names of labels
finishes the rename before, so such a change waits for no earlier one.
"""

import msgspec

from bowerbird.clock import Clock
from bowerbird.library.access.turns import lock_library
from bowerbird.library.bookmarks.writing.kept_changes import ended
from bowerbird.library.bookmarks.writing.label_renames import LabelRenames, Position
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import BulkRow, BulkState
from bowerbird.model.labels import name_key
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.bulk import BulkStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.labels import LabelStore
from bowerbird.storage.libraries import LibraryStore


class LabelRenaming:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._renames = LabelRenames(database)
        self._libraries = LibraryStore(database)
        self._labels = LabelStore(database)
        self._accounts = AccountStore(database)
        self._store = BulkStore(database)
        self._clock = clock

    async def take(self, transaction: Transaction, account: Account, row: BulkRow) -> BulkRow:
        assert row.label is not None
        label, account_id, turned = row.label, account.account_id, None
        is_undo = row.state is BulkState.UNDOING
        names = (label.name, label.new_name)
        if label.is_begun or await self._begin(
            transaction, account_id, label.label_id, *(reversed(names) if is_undo else names)
        ):
            done = Position(label.label_id, label.after if label.is_begun else 0)
            turned = await self._renames.turn(transaction, account_id, done)
        if turned is None or turned.is_last:
            # It is finished, or another write has renamed or deleted the label.
            count = row.matched if label.is_begun or turned is not None else 0
            row = ended(row, BulkState.UNDONE if is_undo else BulkState.DONE, self._clock())
            row = _counting(row, count, is_undo=is_undo)
        else:
            label = msgspec.structs.replace(label, is_begun=True, after=turned.number)
            count = (row.restored if is_undo else row.done) + turned.count
            row = _counting(msgspec.structs.replace(row, labels=[label]), count, is_undo=is_undo)
        await self._store.update(transaction, account_id, row)
        return row

    async def _begin(
        self, transaction: Transaction, account_id: int, label_id: int, before: str, after: str
    ) -> bool:
        """Gives the label its new name. False if it was renamed since, or the name is taken."""
        library = await lock_library(self._libraries, transaction, account_id)
        label = await self._labels.by_id(transaction, account_id, label_id)
        key = name_key(after)
        other = (await self._labels.named(transaction, account_id, [key])).get(key)
        if label is None or label.name != before or other not in (None, label):
            return False
        renamed = msgspec.structs.replace(label, name=after, name_key=key, former_name=label.name)
        await self._labels.update(transaction, library, renamed)
        await self._accounts.follow_label(transaction, account_id, before, after)
        return True


def _counting(row: BulkRow, count: int, *, is_undo: bool) -> BulkRow:
    count = min(count, row.matched)
    if is_undo:
        return msgspec.structs.replace(row, restored=count)
    return msgspec.structs.replace(row, done=count, changed=count)
