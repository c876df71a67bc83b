"""The free plan's calls: counted in memory, written together, so that a read costs no write."""

import asyncio
from collections import Counter
from contextlib import suppress
from typing import Final

import structlog

from bowerbird.clock import Clock, first_of_next_month, month_of
from bowerbird.errors import Code, Refusal
from bowerbird.model.accounts import Account
from bowerbird.storage.accounts.accounts import AccountStore

_FLUSH_S: Final = 1.0
_FLUSH_CALLS: Final = 20


class CallCounter:
    """A crash forgets at most what one second or twenty calls have gathered."""

    def __init__(self, store: AccountStore, clock: Clock, calls_per_month: int) -> None:
        self._store = store
        self._clock = clock
        self.calls_per_month = calls_per_month
        self._gathered: Counter[tuple[int, int]] = Counter()
        self._full = asyncio.Event()
        self._is_stopping = False
        self._log = structlog.get_logger()

    def check(self, account: Account) -> None:
        """Refuses a free account whose month is used up. What is being written is forgiven."""
        if self.used(account) >= self.calls_per_month:
            raise Refusal(
                Code.SUBSCRIPTION_REQUIRED,
                f"The free plan's {self.calls_per_month} calls of this month are used; "
                f"the next month begins on {first_of_next_month(self._clock())} (UTC).",
            )

    def used(self, account: Account) -> int:
        """Calls of this month, as far as this process knows."""
        gathered = self._gathered[month_of(self._clock()), account.account_id]
        return account.calls_this_month + gathered

    def add(self, account: Account) -> None:
        self._gathered[month_of(self._clock()), account.account_id] += 1
        if self._gathered.total() >= _FLUSH_CALLS:
            self._full.set()

    async def flush(self) -> None:
        for month in sorted({month for month, _ in self._gathered}):
            calls = {a: n for (m, a), n in self._gathered.items() if m == month}
            for account_id in calls:
                del self._gathered[month, account_id]
            try:
                await self._store.add_calls(month, calls)
            except Exception:
                # They stay gathered until the database takes them.
                self._gathered.update({(month, a): n for a, n in calls.items()})
                raise

    async def keep_flushing(self) -> None:
        """Runs beside the server until `stop`; then writes what is left and ends."""
        while not self._is_stopping:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._full.wait(), _FLUSH_S)
            self._full.clear()
            await self._try_to_flush()

    def stop(self) -> None:
        """Not by cancelling: a write under way would be lost, or counted twice."""
        self._is_stopping = True
        self._full.set()

    async def _try_to_flush(self) -> None:
        try:
            await self.flush()
        except Refusal as refused:
            self._log.warning("calls wait", reason=refused.sentence, calls=self._gathered.total())
        except Exception:  # noqa: BLE001 - counting goes on whatever happened
            self._log.exception("calls wait", calls=self._gathered.total())
