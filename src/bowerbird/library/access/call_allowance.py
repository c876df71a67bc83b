"""How often something may be done: the calls of the free plan, and attempts of strangers.

A call of the free plan is counted in the database when its answer is ready, by a statement that
counts no call beyond the limit. So it does not matter how many calls arrive together, or on how
many nodes. A call that is refused in between costs nothing, and an account of a paid plan causes no
statement.

Attempts are counted in memory, so each process of a server counts by itself. What people sign in
with cannot be guessed, so the limits only bound the work that others can cause. Strangers are
counted by address and never by account: otherwise they could lock a person out.
"""

from collections import Counter
from typing import Final

import structlog
from msgspec import Struct

from bowerbird.clock import MICROSECONDS, Clock, first_of_next_month, month_of, seconds_left_of_day
from bowerbird.errors import Code, Refusal, TooManyWaiting
from bowerbird.library.access.activity import Flushing
from bowerbird.lru import LruCache
from bowerbird.model.accounts import Account
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Transaction, Writable

# An address or account may try so often at once, and again every few seconds.
BURST: Final = 20
_REFILL: Final = 3 * MICROSECONDS
_MAX_ADDRESSES: Final = 10_000


def used_up(what: str, now: int) -> Refusal:
    """`what` says what was done as often as a UTC day allows."""
    sentence = f"{what} today (UTC), the maximum. Retry tomorrow."
    return Refusal(Code.RATE_LIMITED, sentence, {"Retry-After": str(seconds_left_of_day(now))})


class AttemptLimits:
    """So many at once, and again one after the other."""

    def __init__(self, clock: Clock, burst: int = BURST, refill: int = _REFILL) -> None:
        self._clock = clock
        self._burst = burst * refill
        self._refill = refill
        # By address or account: the time at which it has its whole burst again.
        self._full_at = LruCache(_MAX_ADDRESSES)

    def count(self, network: str) -> None:
        """Raises a refusal if the address has tried too often."""
        self._count(network, "from your network address")

    def count_account(self, account_id: int) -> None:
        """Raises a refusal if people who are signed in to the account have tried too often."""
        self._count(f"account {account_id}", "in your account")

    def _count(self, who: str, where: str) -> None:
        now = self._clock()
        full_at = self._full_at.get(who) or 0
        if full_at > now + self._burst:
            # The clock was set back, and they would wait for as long.
            full_at = 0
        full_at = max(full_at, now) + self._refill
        wait = full_at - now - self._burst
        if wait > 0:
            raise Refusal(
                Code.RATE_LIMITED,
                f"Too many attempts {where}. Wait a moment, then try again.",
                {"Retry-After": str(-(-wait // MICROSECONDS))},
            )
        self._full_at.put(who, full_at)


class TriesWithin:
    """So many within a time."""

    def __init__(self, clock: Clock, window: int) -> None:
        self._clock = clock
        self._window = window
        # By address: the times of its tries, the oldest first.
        self._tried = LruCache(_MAX_ADDRESSES)

    def count(self, network: str, most: int) -> int:
        """Counts a try. For one that is too many, which is not counted, the seconds to wait."""
        now = self._clock()
        tried = self._recent(network, now)
        if len(tried) >= most:
            return -(-(tried[0] + self._window - now) // MICROSECONDS)
        self._tried.put(network, (*tried, now))
        return 0

    def take_back(self, network: str) -> None:
        """The last try was a good one."""
        self._tried.put(network, self._recent(network, self._clock())[:-1])

    def _recent(self, network: str, now: int) -> tuple[int, ...]:
        tried: tuple[int, ...] = self._tried.get(network) or ()
        # Not those from the future: the clock was set back.
        return tuple(at for at in tried if now - self._window < at <= now)


_FLUSH_S: Final = 1.0
_FLUSH_CALLS: Final = 20
_MAX_KNOWN: Final = 10_000


class CallCounter:
    """While the database cannot write, reads are counted in memory and written later."""

    def __init__(self, store: AccountStore, clock: Clock, calls_per_month: int) -> None:
        self._store = store
        self._clock = clock
        self.calls_per_month = calls_per_month
        self._unwritten: Counter[tuple[int, int]] = Counter()
        # The last count that this process stored, which may be newer than that of an account.
        self._stored: dict[tuple[int, int], int] = {}
        self.flushing = Flushing("calls", self.flush, self._unwritten.total, _FLUSH_S)
        self._log = structlog.get_logger()

    def check(self, account: Account) -> None:
        """Refuses a free account that has no calls left, before any work is done for it."""
        if self.used(account) >= self.calls_per_month:
            raise self._used_up()

    def used(self, account: Account) -> int:
        """The calls of this month that this process knows of."""
        key = month_of(self._clock()), account.account_id
        return max(account.calls_this_month, self._stored.get(key, 0)) + self._unwritten[key]

    async def charge(self, account: Account) -> None:
        """Counts one read whose answer is ready; refuses it if no call is left."""
        month = month_of(self._clock())
        try:
            calls = await self._store.charge(account.account_id, month, self._limit(month, account))
        except TooManyWaiting:
            # Counting it in memory would let calls pass beyond the limit.
            raise
        except Refusal as refused:
            # A full disk must not stop reads.
            self._log.warning("call not written", reason=refused.sentence)
            self.check(account)
            self.add(account)
        else:
            self._note(month, account, calls)

    async def charge_within(self, transaction: Transaction, account: Account) -> None:
        """Counts one write, in its own transaction; refuses and undoes it if no call is left."""
        month = month_of(self._clock())
        calls = await self._store.charge_within(
            Writable(transaction, account.account_id), month, self._limit(month, account)
        )
        if calls is None:
            raise self._used_up()

    def add(self, account: Account) -> None:
        """Counts one call in memory."""
        self._unwritten[month_of(self._clock()), account.account_id] += 1
        if self._unwritten.total() >= _FLUSH_CALLS:
            self.flushing.hurry()

    def _limit(self, month: int, account: Account) -> int:
        return self.calls_per_month - self._unwritten[month, account.account_id]

    def _note(self, month: int, account: Account, calls: int | None) -> None:
        if calls is None:
            raise self._used_up()
        if len(self._stored) >= _MAX_KNOWN:
            self._stored.clear()
        self._stored[month, account.account_id] = calls

    def _used_up(self) -> Refusal:
        return Refusal(
            Code.SUBSCRIPTION_REQUIRED,
            f"All {self.calls_per_month} calls of the free plan for this month are used. "
            f"The next month begins on {first_of_next_month(self._clock())} (UTC).",
        )

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


class CallCharge(Struct, frozen=True):
    """The price of one call: what a write of a free account checks first and pays at its end."""

    calls: CallCounter
    account: Account

    def require_left(self) -> None:
        self.calls.check(self.account)

    async def pay(self, transaction: Transaction) -> None:
        await self.calls.charge_within(transaction, self.account)
