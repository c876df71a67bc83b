"""Which account called which version last: noted in memory, written once a day and account.

It is asked when a version ends, to tell everybody who still calls it.
"""

import asyncio
from contextlib import suppress
from typing import Final

import structlog

from bowerbird.clock import Clock, day_of
from bowerbird.errors import Refusal
from bowerbird.storage.accounts.version_use import VersionUseStore

_FLUSH_S: Final = 5.0
# Past it all are noted anew, which costs a needless write each, not a wrong one.
_KEPT_MOST: Final = 100_000


class VersionUse:
    """A crash forgets at most five seconds, and the day's next call notes them again."""

    def __init__(self, store: VersionUseStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._noted: dict[tuple[int, str], int] = {}
        self._waiting: dict[tuple[int, str], int] = {}
        self._stopping = asyncio.Event()
        self._log = structlog.get_logger()

    def note(self, account_id: int, version: str) -> None:
        use, day = (account_id, version), day_of(self._clock())
        if self._noted.get(use) == day:
            return
        if len(self._noted) >= _KEPT_MOST:
            self._noted.clear()
        self._noted[use] = self._waiting[use] = day

    async def flush(self) -> None:
        waiting, self._waiting = self._waiting, {}
        if not waiting:
            return
        try:
            await self._store.keep(waiting)
        except Exception:
            # What was noted meanwhile is newer.
            self._waiting = waiting | self._waiting
            raise

    async def keep_flushing(self) -> None:
        """Runs beside the server until `stop`; then writes what is left and ends."""
        while not self._stopping.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), _FLUSH_S)
            await self._try_to_flush()

    def stop(self) -> None:
        self._stopping.set()

    async def _try_to_flush(self) -> None:
        try:
            await self.flush()
        except Refusal as refused:
            self._log.warning("uses wait", reason=refused.sentence, uses=len(self._waiting))
        except Exception:  # noqa: BLE001 - noting goes on whatever happened
            self._log.exception("uses wait", uses=len(self._waiting))
