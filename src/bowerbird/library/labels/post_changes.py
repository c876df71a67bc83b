"""Changes of posts and labels, each in a transaction of its own, for people who click on them."""

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
from bowerbird.storage.database import Database


class PostChanges:
    def __init__(self, database: Database, flags: Flags, trash: Trash, labels: Labels) -> None:
        self._database = database
        self._flags = flags
        self._trash = trash
        self._labels = labels

    async def update(self, account: Account, post_id: str, change: UpdateRequest) -> None:
        """Changes flags and the note."""
        await turns.run(
            self._database,
            lambda t: self._flags.update_one(t, account, post_id, change),
            account.account_id,
        )

    async def mark_read(self, account: Account, post_ids: list[str]) -> None:
        await turns.run(
            self._database,
            lambda t: self._flags.update(t, account, post_ids, FlagsRequest(is_read=True)),
            account.account_id,
        )

    async def delete(self, account: Account, post_id: str) -> None:
        await self._trash.prepare(account, post_id)
        await turns.run(
            self._database,
            lambda t: self._trash.delete(t, account, post_id),
            account.account_id,
        )

    async def restore(self, account: Account, post_id: str) -> None:
        await self._trash.prepare_restore(account, post_id)
        await turns.run(
            self._database,
            lambda t: self._trash.restore(t, account, post_id),
            account.account_id,
        )

    async def label(self, account: Account, op: Op, request: LabelRequest) -> int:
        """Adds a label or removes it; returns how many posts it changed."""
        changed = await turns.run(
            self._database,
            lambda t: self._labels.change(t, account, op, request),
            account.account_id,
        )
        return changed.changed if isinstance(changed, BulkRow) else changed.affected


class LabelChanges:
    def __init__(self, database: Database, labels: Labels) -> None:
        self._database = database
        self._labels = labels

    async def create(self, account: Account, name: str) -> tuple[LabelResponse, bool]:
        """False with the label if it existed before."""
        return await turns.run(
            self._database, lambda t: self._labels.create(t, account, name), account.account_id
        )

    async def update(self, account: Account, label_id: str, change: LabelChange) -> LabelResponse:
        label, row = await turns.run(
            self._database,
            lambda t: self._labels.update(t, account, label_id, change),
            account.account_id,
        )
        if row is not None and not row.is_finished:
            await self._labels.changes.finish_soon(account, row.change_id)
        return label
