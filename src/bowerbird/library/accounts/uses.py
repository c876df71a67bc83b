"""When something was last used, collected in memory and written every few seconds.

A crash loses at most five seconds of uses.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping
from contextlib import suppress
from typing import Final, Generic, TypeVar

import structlog

from bowerbird.errors import Refusal

K = TypeVar("K", bound=Hashable)

_FLUSH_S: Final = 5.0
# Above this the memory is cleared. Then some uses are written twice, which is harmless.
_MAX_RECORDED: Final = 100_000


class Uses(Generic[K]):
    """`write` stores what was used and when, as a day or a time. A later use wins."""

    def __init__(self, name: str, write: Callable[[Mapping[K, int]], Awaitable[None]]) -> None:
        self._name = name
        self._write = write
        self._recorded: dict[K, int] = {}
        self._unwritten: dict[K, int] = {}
        self._stopping = asyncio.Event()
        self._is_failing = False
        self._log = structlog.get_logger()

    def note(self, used: K, when: int) -> None:
        if self._recorded.get(used) == when:
            return
        if len(self._recorded) >= _MAX_RECORDED:
            self._recorded.clear()
        self._recorded[used] = self._unwritten[used] = when

    async def flush(self) -> None:
        uses, self._unwritten = self._unwritten, {}
        if not uses:
            return
        try:
            await self._write(uses)
        except Exception:
            # Uses recorded since then are newer and win.
            self._unwritten = uses | self._unwritten
            raise

    async def keep_flushing(self) -> None:
        """Flushes regularly until `stop` is called; then flushes once more and returns."""
        while not self._stopping.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), _FLUSH_S)
            await self._try_to_flush()

    def stop(self) -> None:
        self._stopping.set()

    async def _try_to_flush(self) -> None:
        try:
            await self.flush()
            self._is_failing = False
        except Refusal as refused:
            # One line when it begins: the flush is retried again and again.
            if not self._is_failing:
                self._log.warning(
                    f"{self._name} not written",
                    reason=refused.sentence,
                    uses=len(self._unwritten),
                )
            self._is_failing = True
        except Exception:  # noqa: BLE001 - the next flush tries again
            self._log.exception(f"{self._name} not written", uses=len(self._unwritten))
