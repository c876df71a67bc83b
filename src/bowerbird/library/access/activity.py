"""The activity log of an account: sign-ins, keys, devices, exports, imports and deletions.

An entry is written in the transaction of what it tells of.
"""

import secrets
from collections.abc import Sequence
from typing import Final

from bowerbird.clock import Clock
from bowerbird.library.access import caller
from bowerbird.model.accounts import ActivityEntry, ActivityKind
from bowerbird.storage.activity import ActivityStore
from bowerbird.storage.database import Database, Transaction

KEPT_DAYS: Final = 180
ENTRIES_MAX: Final = 10_000
PAGE: Final = 50
_MAX_DETAIL: Final = 200
_LATEST: Final = (2**63 - 1, "")


class Activity:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._store = ActivityStore(database)
        self._clock = clock

    def entry(self, kind: ActivityKind, detail: str = "") -> ActivityEntry:
        """`detail` is what it was done to, such as the name of a key."""
        return ActivityEntry(
            self._clock(), secrets.token_hex(6), kind, detail[:_MAX_DETAIL], caller.address()
        )

    async def add(self, transaction: Transaction, account_id: int, entry: ActivityEntry) -> None:
        await self._store.add(transaction, account_id, entry)

    async def page(
        self, account_id: int, before: tuple[int, str] | None = None, limit: int = PAGE
    ) -> Sequence[ActivityEntry]:
        """The newest entries, or those before a time and id; the latest first."""
        return await self._store.page(account_id, before or _LATEST, limit)
