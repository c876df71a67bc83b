"""How often an address or an account may try something that costs others.

All count in memory, so each process of a server counts by itself. What people sign in with cannot
be guessed, so the limits only bound the work that others can cause. Strangers are counted by
address and never by account: otherwise they could lock a person out.
"""

from typing import Final

from bowerbird.clock import MICROSECONDS, Clock, seconds_left_of_day
from bowerbird.errors import Code, Refusal
from bowerbird.lru import LruCache

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
