"""Counts the free plan's calls in memory and writes them in groups: a read causes no write."""

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
    """A crash loses at most the calls of one second, or twenty calls."""

    def __init__(self, store: AccountStore, clock: Clock, calls_per_month: int) -> None:
        self._store = store
        self._clock = clock
        self.calls_per_month = calls_per_month
        self._unwritten: Counter[tuple[int, int]] = Counter()
        self._full = asyncio.Event()
        self._is_stopping = False
        self._is_failing = False
        self._log = structlog.get_logger()

    def check(self, account: Account) -> None:
        """Refuses a free account that has no calls left. Calls being written are not counted."""
        if self.used(account) >= self.calls_per_month:
            raise Refusal(
                Code.SUBSCRIPTION_REQUIRED,
                f"All {self.calls_per_month} calls of the free plan for this month are used. "
                f"The next month begins on {first_of_next_month(self._clock())} (UTC).",
            )

    def used(self, account: Account) -> int:
        """The calls of this month that this process knows of."""
        unwritten = self._unwritten[month_of(self._clock()), account.account_id]
        return account.calls_this_month + unwritten

    def add(self, account: Account) -> None:
        self._unwritten[month_of(self._clock()), account.account_id] += 1
        if self._unwritten.total() >= _FLUSH_CALLS:
            self._full.set()

    async def flush(self) -> None:
        for month in sorted({month for month, _ in self._unwritten}):
            calls = {a: n for (m, a), n in self._unwritten.items() if m == month}
            for account_id in calls:
                del self._unwritten[month, account_id]
            try:
                await self._store.add_calls(month, calls)
            except Exception:
                # Counted again, so that the next flush retries them.
                self._unwritten.update({(month, a): n for a, n in calls.items()})
                raise

    async def keep_flushing(self) -> None:
        """Runs until `stop`, then writes the remaining calls and ends."""
        while not self._is_stopping:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._full.wait(), _FLUSH_S)
            self._full.clear()
            await self._try_to_flush()

    def stop(self) -> None:
        """Does not cancel the task: that would lose a write in progress, or count it twice."""
        self._is_stopping = True
        self._full.set()

    async def _try_to_flush(self) -> None:
        try:
            await self.flush()
            self._is_failing = False
        except Refusal as refused:
            # One line when it begins: the flush is retried every second.
            if not self._is_failing:
                self._log.warning(
                    "calls not written", reason=refused.sentence, calls=self._unwritten.total()
                )
            self._is_failing = True
        except Exception:  # noqa: BLE001 - counting continues after any error
            self._log.exception("calls not written", calls=self._unwritten.total())
