"""How often an address may try to sign in, and an account may try to prove who is signed in.

What people sign in with cannot be guessed, so this only bounds the work that others can cause.
Strangers are counted by address and never by account: otherwise they could lock a person out.
"""

from typing import Final

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Code, Refusal
from bowerbird.lru import LruCache

# An address or account may try so often at once, and again every few seconds.
BURST: Final = 20
_REFILL: Final = 3 * MICROSECONDS
# An address may try to create so many accounts per UTC day.
SIGN_UPS_PER_DAY: Final = 20
_DAY: Final = 86_400 * MICROSECONDS
_MAX_ADDRESSES: Final = 10_000


class AttemptLimits:
    """Counts in memory, so each process of a server counts by itself."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
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
        if full_at > now + BURST * _REFILL:
            # The clock was set back, and they would wait for as long.
            full_at = 0
        full_at = max(full_at, now) + _REFILL
        wait = full_at - now - BURST * _REFILL
        if wait > 0:
            raise Refusal(
                Code.RATE_LIMITED,
                f"Too many attempts {where}. Wait a moment, then try again.",
                {"Retry-After": str(-(-wait // MICROSECONDS))},
            )
        self._full_at.put(who, full_at)


class SignUpLimits:
    """Counts in memory too. It bounds what a stranger can create where sign-up is open."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # Day and number of tries.
        self._tried = LruCache(_MAX_ADDRESSES)

    def count(self, network: str) -> None:
        """Raises a refusal if the address has tried too often today."""
        now = self._clock()
        day, tried = self._tried.get(network) or (0, 0)
        if day != now // _DAY:
            tried = 0
        if tried >= SIGN_UPS_PER_DAY:
            raise Refusal(
                Code.RATE_LIMITED,
                "Too many accounts were created from your network address today. Try tomorrow.",
                {"Retry-After": str((_DAY - now % _DAY) // MICROSECONDS + 1)},
            )
        self._tried.put(network, (now // _DAY, tried + 1))
