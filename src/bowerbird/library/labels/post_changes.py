"""Changes of posts and labels, each in a transaction of its own, for people who click on them."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from bowerbird.library.access import turns
from bowerbird.library.bookmarks.flags import Flags
from bowerbird.library.bookmarks.trash import Trash
from bowerbird.library.labels.label_list import LabelResponse
from bowerbird.library.labels.labels import Labels
from bowerbird.library.labels.operations import Op
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import BulkRow
from bowerbird.requests.bookmarks import FlagsRequest, UpdateRequest
from bowerbird.requests.labels import LabelChange, LabelRequest
from bowerbird.storage.database import Database, Transaction

T = TypeVar("T")


class _Changes:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def _run(self, account: Account, work: Callable[[Transaction], Awaitable[T]]) -> T:
        return await turns.run(self._database, work, account.account_id)


class PostChanges(_Changes):
    def __init__(self, database: Database, flags: Flags, trash: Trash, labels: Labels) -> None:
        super().__init__(database)
        self._flags = flags
        self._trash = trash
        self._labels = labels

    async def update(self, account: Account, post_id: str, change: UpdateRequest) -> None:
        """Changes flags and the note."""
        await self._run(account, lambda t: self._flags.update_one(t, account, post_id, change))

    async def mark_read(self, account: Account, post_ids: list[str]) -> None:
        await self._run(
            account, lambda t: self._flags.update(t, account, post_ids, FlagsRequest(is_read=True))
        )

    async def delete(self, account: Account, post_id: str) -> None:
        await self._trash.prepare(account, post_id)
        await self._run(account, lambda t: self._trash.delete(t, account, post_id))

    async def restore(self, account: Account, post_id: str) -> None:
        await self._trash.prepare_restore(account, post_id)
        await self._run(account, lambda t: self._trash.restore(t, account, post_id))

    async def label(self, account: Account, op: Op, request: LabelRequest) -> int:
        """Adds a label or removes it; returns how many posts it changed."""
        changed = await self._run(account, lambda t: self._labels.change(t, account, op, request))
        return changed.changed if isinstance(changed, BulkRow) else changed.affected


class LabelChanges(_Changes):
    def __init__(self, database: Database, labels: Labels) -> None:
        super().__init__(database)
        self._labels = labels

    async def create(self, account: Account, name: str) -> tuple[LabelResponse, bool]:
        """False with the label if it existed before."""
        return await self._run(account, lambda t: self._labels.create(t, account, name))

    async def update(self, account: Account, label_id: str, change: LabelChange) -> LabelResponse:
        label, row = await self._run(
            account, lambda t: self._labels.update(t, account, label_id, change)
        )
        if row is not None and not row.is_finished:
            await self._labels.changes.finish_soon(account, row.change_id)
        return label
