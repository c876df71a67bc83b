"""How much a device may send per minute and at once."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.ingest.runs import device_of
from bowerbird.model.accounts import Account
from bowerbird.requests import limits

_MINUTE: Final = 60 * MICROSECONDS
_MAX_DEVICES: Final = 10_000


class Rates:
    """Counts in memory, so each process of a server counts by itself."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # The minute of each device, and its requests in it.
        self._minutes: dict[tuple[int, str], tuple[int, int]] = {}
        self._under_way: Counter[int] = Counter()

    def count(self, account: Account) -> None:
        """Refuses a request beyond the rate of the device, or of the account's keys."""
        now = self._clock()
        caller = account.account_id, device_of(account)
        minute, count = self._minutes.get(caller, (0, 0))
        if minute != now // _MINUTE:
            minute, count = now // _MINUTE, 0
        if count >= limits.INGEST_PAGES_PER_MINUTE:
            seconds = -(-(_MINUTE - now % _MINUTE) // MICROSECONDS)
            raise Refusal(
                Code.RATE_LIMITED,
                f"This device has sent {limits.INGEST_PAGES_PER_MINUTE} requests within a minute, "
                "the maximum.",
                {"Retry-After": str(seconds)},
            )
        if len(self._minutes) >= _MAX_DEVICES:
            self._minutes.clear()
        self._minutes[caller] = minute, count + 1

    @contextmanager
    def receiving(self, account: Account) -> Iterator[None]:
        """While a large body is received and read."""
        own = self._under_way[account.account_id]
        is_full = self._under_way.total() >= limits.INGEST_CONCURRENT
        if own >= limits.INGEST_CONCURRENT_PER_ACCOUNT or is_full:
            raise Refusal(
                Code.RATE_LIMITED,
                "Too many pages or files are being received; send them one after the other.",
                {"Retry-After": "1"},
            )
        self._under_way[account.account_id] += 1
        try:
            yield
        finally:
            self._under_way[account.account_id] -= 1
            if not self._under_way[account.account_id]:
                del self._under_way[account.account_id]
