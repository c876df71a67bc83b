"""How many wrong connect codes are accepted, so that 40 bits cannot be guessed.

A thousand tries hit one of a hundred open codes with a probability of 1 in 11 million.
"""

from typing import Final

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Code, Refusal
from bowerbird.lru import LruCache
from bowerbird.requests import limits

_WINDOW: Final = 600 * MICROSECONDS
_MAX_NETWORKS: Final = 10_000


class TooManyTries(Refusal):
    """Too many wrong codes were tried."""


class ConnectTries:
    """Counts in memory, so each process of a server counts by itself."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # By network: the times of its wrong tries, the oldest first.
        self._tried = LruCache(_MAX_NETWORKS)
        # Of all networks: the start of the ten minutes, and the wrong tries since then.
        self._since = 0
        self._all = 0

    def count(self, network: str) -> None:
        """Counts a try as wrong, before its outcome is known. Refuses one that is too many."""
        now = self._clock()
        tried = self._recent(network, now)
        if len(tried) >= limits.CONNECT_TRIES_MAX:
            wait = tried[0] + _WINDOW - now
            raise too_many("from your network address", -(-wait // MICROSECONDS))
        self._tried.put(network, (*tried, now))
        if not 0 <= now - self._since < _WINDOW:
            self._since, self._all = now, 0
        self._all += 1

    def take_back(self, network: str) -> None:
        """The try was not wrong."""
        tried = self._recent(network, self._clock())
        self._tried.put(network, tried[:-1])
        self._all = max(0, self._all - 1)

    @property
    def are_too_many(self) -> bool:
        """Whether all networks together have tried so often that somebody may be guessing."""
        return self._all > limits.CONNECT_TRIES_OF_ALL_MAX

    def _recent(self, network: str, now: int) -> tuple[int, ...]:
        tried: tuple[int, ...] = self._tried.get(network) or ()
        # Not those from the future: the clock was set back.
        return tuple(at for at in tried if now - _WINDOW < at <= now)


def too_many(where: str, seconds: int) -> TooManyTries:
    return TooManyTries(
        Code.RATE_LIMITED,
        f"Too many wrong codes were tried {where}. Wait, then try again.",
        {"Retry-After": str(seconds)},
    )
