"""Records the last day on which each account called each API version.

Collected in memory and written at most once per day, account and version. Used to notify the
remaining callers before a version ends.
"""

import asyncio
from contextlib import suppress
from typing import Final

import structlog

from bowerbird.clock import Clock, day_of
from bowerbird.errors import Refusal
from bowerbird.storage.accounts.version_use import VersionUseStore

_FLUSH_S: Final = 5.0
# Above this the memory is cleared. Then some uses are written twice, which is harmless.
_MAX_RECORDED: Final = 100_000


class VersionUse:
    """A crash loses at most five seconds of uses; the next call of the day records them again."""

    def __init__(self, store: VersionUseStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._recorded: dict[tuple[int, str], int] = {}
        self._unwritten: dict[tuple[int, str], int] = {}
        self._stopping = asyncio.Event()
        self._is_failing = False
        self._log = structlog.get_logger()

    def note(self, account_id: int, version: str) -> None:
        use, day = (account_id, version), day_of(self._clock())
        if self._recorded.get(use) == day:
            return
        if len(self._recorded) >= _MAX_RECORDED:
            self._recorded.clear()
        self._recorded[use] = self._unwritten[use] = day

    async def flush(self) -> None:
        uses, self._unwritten = self._unwritten, {}
        if not uses:
            return
        try:
            await self._store.put(uses)
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
                    "version uses not written", reason=refused.sentence, uses=len(self._unwritten)
                )
            self._is_failing = True
        except Exception:  # noqa: BLE001 - the next flush tries again
            self._log.exception("version uses not written", uses=len(self._unwritten))
