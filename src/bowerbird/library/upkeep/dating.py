"""Gives a time to posts that an earlier release stored without one.

Each turn is one transaction, so an interrupted run continues where it stopped.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

from bowerbird.clock import Clock, month_of
from bowerbird.library.access import plans
from bowerbird.library.access.library_lock import lock_library
from bowerbird.library.upkeep.comparisons import Comparison
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.bookmarks.upsert import UpsertStore
from bowerbird.storage.checks import CheckStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.libraries import LibraryStore

_ACCOUNTS_PER_PAGE: Final = 500
_POSTS_PER_TURN: Final = 100
# Between two turns, for other writers.
_PAUSE_S: Final = 0.02


class Dating:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._accounts = AccountStore(database)
        self._libraries = LibraryStore(database)
        self._store = CheckStore(database)
        self._upserts = UpsertStore(database)

    async def due_accounts(self, after: int) -> Sequence[int]:
        """The next accounts with posts that have no time."""
        return await self._store.accounts_with_undated(after, _ACCOUNTS_PER_PAGE)

    async def run(self, account_id: int) -> None:
        account = await self._accounts.by_id(account_id, month_of(self._clock()))
        if account is None:
            raise plans.account_gone()

        async def work(transaction: Transaction) -> bool:
            library = await lock_library(self._libraries, transaction, account_id)
            numbers = await self._store.undated(transaction, account_id, _POSTS_PER_TURN)
            stored = await self._store.by_numbers(transaction, account, numbers)
            comparisons = [one for one in map(Comparison, stored) if one.is_fixable]
            rows = [{**one.row(""), "words": None} for one in comparisons]
            await self._upserts.update(transaction, library, rows, {})
            if rows:
                await self._libraries.touch(transaction, account_id)
            # Those that cannot be read stay as they are; `bowerbird check` reports them.
            return bool(rows) and len(numbers) == _POSTS_PER_TURN

        while await self._database.write(work):  # noqa: ASYNC110 - leaves time for other writers
            await asyncio.sleep(_PAUSE_S)
