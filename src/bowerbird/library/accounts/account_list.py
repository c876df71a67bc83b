"""Accounts in pages, and by the start of their address, for the operator."""

from collections.abc import Sequence
from typing import Final

from bowerbird.model.accounts import Membership
from bowerbird.model.folding import fold
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Database

PER_PAGE: Final = 20
MAX_SEARCH: Final = 254
_LATEST: Final = (2**63 - 1, 0)


class AccountList:
    def __init__(self, database: Database) -> None:
        self._store = AccountStore(database)

    async def page(self, before: tuple[int, int] = _LATEST) -> Sequence[Membership]:
        """The newest first, and one more than a page if there are more."""
        return await self._store.page(before, PER_PAGE + 1)

    async def starting_with(self, text: str) -> Sequence[Membership]:
        """Accounts whose address starts with the text, and one more if there are more."""
        return await self._store.starting_with(fold(text.strip()[:MAX_SEARCH]), PER_PAGE + 1)
