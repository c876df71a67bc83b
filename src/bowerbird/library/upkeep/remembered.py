"""A value that takes work to compute, kept for a minute."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

from bowerbird.clock import MICROSECONDS, Clock

T = TypeVar("T")
_KEPT: Final = 60 * MICROSECONDS


class Remembered(Generic[T]):
    """Computes the value once, however many callers wait for it."""

    def __init__(self, compute: Callable[[], Awaitable[T]], clock: Clock) -> None:
        self._compute = compute
        self._clock = clock
        self._computing: asyncio.Task[T] | None = None
        self._started_at = 0

    async def get(self) -> T:
        """A caller that is cancelled does not stop the work for the others."""
        if self._computing is None or self._is_outdated(self._computing):
            self._started_at = self._clock()
            self._computing = asyncio.ensure_future(_run(self._compute))
            # Retrieve the exception; asyncio warns otherwise.
            self._computing.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(self._computing)

    def _is_outdated(self, computing: "asyncio.Task[T]") -> bool:
        if not computing.done():
            return False
        has_failed = computing.cancelled() or computing.exception() is not None
        return has_failed or not 0 <= self._clock() - self._started_at < _KEPT


async def _run(compute: Callable[[], Awaitable[T]]) -> T:
    return await compute()
