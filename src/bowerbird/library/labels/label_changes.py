"""Changes of labels, each in its own transactions, for people who click on them."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from bowerbird.library.access import turns
from bowerbird.library.access.turns import Unfinished
from bowerbird.library.labels.label_list import LabelResponse
from bowerbird.library.labels.labels import Labels
from bowerbird.model.accounts import Account
from bowerbird.requests.labels import LabelChange
from bowerbird.storage.database import Database, Transaction

T = TypeVar("T")


class LabelChanges:
    def __init__(self, database: Database, labels: Labels) -> None:
        self._database = database
        self._labels = labels

    async def create(self, account: Account, name: str) -> tuple[LabelResponse, bool]:
        """False with the label if it existed before."""
        return await self._run(account, lambda t: self._labels.create(t, account, name))

    async def update(self, account: Account, label_id: str, change: LabelChange) -> LabelResponse:
        return await self._run(account, lambda t: self._labels.update(t, account, label_id, change))

    async def _run(
        self, account: Account, work: Callable[[Transaction], Awaitable[T | Unfinished[T]]]
    ) -> T:
        return await turns.run(self._database, work, account.account_id)
