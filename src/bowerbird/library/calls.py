"""The free plan's calls: counted in memory, written together, so that a read costs no write."""

import asyncio
from collections import Counter
from contextlib import suppress
from typing import Final

import structlog

from bowerbird.clock import Clock, first_of_next_month, month_of
from bowerbird.errors import Code, Refusal
from bowerbird.model.accounts import Account
from bowerbird.storage.accounts import AccountStore

_FLUSH_S: Final = 1.0
_FLUSH_CALLS: Final = 20


class CallCounter:
    """A crash forgets at most what one second or twenty calls have gathered."""

    def __init__(self, store: AccountStore, clock: Clock, calls_per_month: int) -> None:
        self._store = store
        self._clock = clock
        self._calls_per_month = calls_per_month
        self._gathered: Counter[tuple[int, int]] = Counter()
        # Handed to the database, not yet known to be stored.
        self._leaving: Counter[tuple[int, int]] = Counter()
        self._full = asyncio.Event()
        self._log = structlog.get_logger()

    def check(self, account: Account) -> None:
        if not account.is_free:
            return
        now = self._clock()
        key = (month_of(now), account.account_id)
        used = account.calls_this_month + self._gathered[key] + self._leaving[key]
        if used >= self._calls_per_month:
            raise Refusal(
                Code.SUBSCRIPTION_REQUIRED,
                f"The free plan's {self._calls_per_month} calls of this month are used; "
                f"the next month begins on {first_of_next_month(now)} (UTC).",
            )

    def add(self, account: Account) -> None:
        if not account.is_free:
            return
        self._gathered[month_of(self._clock()), account.account_id] += 1
        if self._gathered.total() >= _FLUSH_CALLS:
            self._full.set()

    async def flush(self) -> None:
        if not self._gathered:
            return
        self._leaving, self._gathered = self._gathered, Counter()
        try:
            for month in sorted({month for month, _ in self._leaving}):
                calls = {a: n for (m, a), n in self._leaving.items() if m == month}
                await self._store.add_calls(month, calls)
        except Exception:
            # They stay gathered until the database takes them.
            self._gathered += self._leaving
            raise
        finally:
            self._leaving = Counter()

    async def keep_flushing(self) -> None:
        """Runs beside the server until it is cancelled; then writes what is left."""
        try:
            while True:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._full.wait(), _FLUSH_S)
                self._full.clear()
                await self._try_to_flush()
        finally:
            await self._try_to_flush()

    async def _try_to_flush(self) -> None:
        try:
            await self.flush()
        except Refusal as refused:
            self._log.warning("calls wait", reason=refused.sentence, calls=self._gathered.total())
        except Exception:  # noqa: BLE001 - counting goes on whatever happened
            self._log.exception("calls wait", calls=self._gathered.total())
