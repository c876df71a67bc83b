"""Changes of one post, each in its own transactions, for people who click on it."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from bowerbird.library.access import turns
from bowerbird.library.access.turns import Unfinished
from bowerbird.library.bookmarks.flags import Flags
from bowerbird.library.bookmarks.trash import Trash
from bowerbird.library.labels.labels import Labels
from bowerbird.library.labels.operations import Labelled, Op
from bowerbird.model.accounts import Account
from bowerbird.requests.bookmarks import UpdateRequest
from bowerbird.requests.labels import LabelRequest
from bowerbird.storage.database import Database, Transaction

T = TypeVar("T")


class PostChanges:
    def __init__(self, database: Database, flags: Flags, trash: Trash, labels: Labels) -> None:
        self._database = database
        self._flags = flags
        self._trash = trash
        self._labels = labels

    async def update(self, account: Account, post_id: str, change: UpdateRequest) -> None:
        """Changes flags and the note."""
        await self._run(account, lambda t: self._flags.update_one(t, account, post_id, change))

    async def delete(self, account: Account, post_id: str) -> None:
        await self._run(account, lambda t: self._trash.delete(t, account, post_id))

    async def restore(self, account: Account, post_id: str) -> None:
        await self._run(account, lambda t: self._trash.restore(t, account, post_id))

    async def label(self, account: Account, op: Op, request: LabelRequest) -> Labelled:
        """Adds a label or removes it."""
        return await self._run(account, lambda t: self._labels.change(t, account, op, request))

    async def _run(
        self,
        account: Account,
        work: Callable[[Transaction], Awaitable[T | Unfinished[T]]],
    ) -> T:
        return await turns.run(self._database, work, account.account_id)
