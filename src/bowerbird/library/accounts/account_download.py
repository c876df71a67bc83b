"""Lets people download everything of their account, a few times per UTC day."""

from collections.abc import AsyncIterator

from bowerbird.clock import Clock, day_of, seconds_left_of_day
from bowerbird.errors import Code, Refusal
from bowerbird.library.access.activity import Activity
from bowerbird.library.access.library_lock import lock_library
from bowerbird.library.accounts.account_export import AccountExports
from bowerbird.model.accounts import Account, ActivityKind
from bowerbird.requests import limits
from bowerbird.storage.daily_use import ACCOUNT_DOWNLOADS, DailyUseStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.files.files import Files
from bowerbird.storage.libraries import LibraryStore


class AccountDownload:
    def __init__(self, database: Database, files: Files, clock: Clock) -> None:
        self._database = database
        self._exports = AccountExports(database, files)
        self._libraries = LibraryStore(database)
        self._daily = DailyUseStore(database, ACCOUNT_DOWNLOADS)
        self._activity = Activity(database, clock)
        self._clock = clock

    async def start(self, account: Account) -> AsyncIterator[bytes]:
        """The pieces of the file, which is never in memory as a whole."""
        account_id, most = account.account_id, limits.ACCOUNT_DOWNLOADS_PER_DAY
        entry = self._activity.entry(ActivityKind.ACCOUNT_DOWNLOADED)

        async def work(transaction: Transaction) -> None:
            await lock_library(self._libraries, transaction, account_id)
            used = await self._daily.add(transaction, account_id, day_of(self._clock()), uses=1)
            if used.uses > most:
                raise Refusal(
                    Code.RATE_LIMITED,
                    f"The account was downloaded {most} times today (UTC), the maximum. Retry "
                    "tomorrow.",
                    {"Retry-After": str(seconds_left_of_day(self._clock()))},
                )
            await self._activity.add(transaction, account_id, entry)

        await self._database.write(work, account_id)
        return self._pieces(account)

    async def _pieces(self, account: Account) -> AsyncIterator[bytes]:
        async for piece in self._exports.pieces(account):
            yield piece.data
